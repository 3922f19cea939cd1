// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables as users write them.

import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { hclText } from '#core/hcl-text.ts';
import type { PoolDocument } from '../../api/wire/plan.ts';
import { openScene } from '../testing.ts';
import { renderAgentPool } from './agent-pool.ts';
import type { Exported } from './document.ts';
import { renderGcs, renderSsm } from './shell.ts';
import { renderTerraform, resourceName } from './terraform.ts';

const pool = (document: Exported['document'], over: Partial<Exported> = {}): Exported => ({
  name: String(document.name),
  source: 'config',
  key: String(document.name),
  left_out: [],
  refused_elsewhere: [],
  document,
  ...over,
});
const gpu = pool({
  name: 'gpu-pool',
  auto_scaler: {
    backend: {
      aws_launch_template: { region: 'us-west-2', security_group_ids: ['sg-1', 'sg-2'], tags: { 'a b': 'x' } },
    },
    max_agents: 20,
    idle_decay: '1m30s',
  },
});
const secret = { ...gpu, left_out: ['auto_scaler.backend.x.token'] };

describe('muster pool export', () => {
  const serve = (...items: PoolDocument[]) => openScene(() => ({ items }));

  it('writes all pools as YAML documents that read back, and names what was left out', async () => {
    const { muster, asked, output, errors } = serve(secret, pool({ name: 'cpu' }));

    const exit = await muster('pool', 'export');

    expect(exit).toBe(0);
    expect(asked[0]?.path).toBe('/pool-documents');
    expect(parseAllDocuments(output()).map((document) => document.toJS())).toEqual([gpu.document, { name: 'cpu' }]);
    expect(output()).toContain('# gpu-pool: auto_scaler.backend.x.token left out: it is secret');
    expect(errors()).toContain('auto_scaler.backend.x.token left out: it is secret');
  });

  it('asks for the pools that are named', async () => {
    const { muster, asked } = serve(gpu);

    await muster('pool', 'export', 'a', 'b', '-f', 'ssm');

    expect(asked.map(({ query }) => query.name)).toEqual(['a', 'b']);
  });

  it('goes on past a pool that cannot be written, and ends with its code', async () => {
    const { document: _document, ...without } = pool({ name: 'odd' });
    const fault = { kind: 'unsupported' as const, message: 'Pool odd is odd.', remedy: 'Leave it.' };
    const { muster, output, errors } = serve({ ...without, fault }, gpu);

    const exit = await muster('pool', 'export', '-f', 'kubernetes');
    const written = await muster('pool', 'export');

    expect([exit, written]).toEqual([10, 10]);
    expect(errors()).toContain('muster: Pool odd is odd. Leave it.');
    expect(errors()).toContain('its backend is aws_launch_template');
    expect(output()).toContain('name: gpu-pool');
  });

  it('tells on the way to a source what only a trusted one takes', async () => {
    const why = 'auto_scaler.backend.command: only in the file of the server';
    const { muster, output, errors } = serve({ ...pool({ name: 'own' }), refused_elsewhere: [why] });

    await muster('pool', 'export');
    expect(`${output()}${errors()}`).not.toContain('trusted');
    const exits = [await muster('pool', 'export', '-f', 'ssm'), await muster('pool', 'export', '-f', 'terraform')];

    expect(exits).toEqual([0, 0]);
    expect(output().split(`# own: only a trusted source may define it: ${why}\n`)).toHaveLength(3);
    expect(errors()).toContain(`own: only a trusted source may define it: ${why}`);
  });

  it('wants a bucket for gcs', async () => {
    const { muster, errors } = serve(gpu);

    expect(await muster('pool', 'export', '-f', 'gcs')).toBe(2);
    expect(errors()).toContain('--bucket');
  });
});

describe('ssm', () => {
  it('puts each document under the prefix, in the folder of its team', () => {
    expect(renderSsm({ ...pool({ name: "it's" }), name: 'a', team: 'ml' }, { prefix: '/x' })).toBe(
      `aws ssm put-parameter --name '/x/ml/a' --type String --overwrite --value '{"name":"it'\\''s"}'\n`,
    );
    expect(renderSsm(gpu, {})).toContain("--name '/velda/pools/gpu-pool'");
  });

  it('takes the larger tier where it must, and refuses what no parameter can hold', () => {
    const long = (length: number) => pool({ name: 'a', description: 'x'.repeat(length) });

    expect(renderSsm(long(4_000), {})).not.toContain('--tier');
    expect(renderSsm(long(5_000), {})).toContain('--tier Advanced');
    expect(() => renderSsm(long(9_000), {})).toThrow(/a parameter holds at most 8192/);
    expect(() => renderSsm(pool({ name: 'a b' }), {})).toThrow(/only letters, digits/);
  });
});

it('gcs writes one object a pool', () => {
  expect(renderGcs(pool({ name: 'a' }), { bucket: 'b' })).toBe(
    `printf %s '{"name":"a"}' | gcloud storage cp --content-type=application/json - 'gs://b/pools/a.json'\n`,
  );
});

describe('terraform', () => {
  it('writes the resources that people write', () => {
    expect(renderTerraform(gpu, {})).toBe(`resource "aws_ssm_parameter" "gpu_pool" {
  name = "/velda/pools/gpu-pool"
  type = "String"
  value = jsonencode({
    name = "gpu-pool"
    auto_scaler = {
      backend = {
        aws_launch_template = {
          region             = "us-west-2"
          security_group_ids = ["sg-1", "sg-2"]
          tags = {
            "a b" = "x"
          }
        }
      }
      max_agents = 20
      idle_decay = "1m30s"
    }
  })
}
`);
  });

  it('writes texts that Terraform takes as they stand', () => {
    expect(hclText('a "b" \\n\n\t${x} %{y} $z')).toBe('"a \\"b\\" \\\\n\\n\\t$${x} %%{y} $z"');
  });

  it('gives two pools two names', () => {
    const names = ['gpu-pool', 'gpu_pool', 'GPU-pool', 'gpu.pool', '1', 'pool_1', 'ü'].map((name) =>
      resourceName({ name }),
    );

    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^[A-Za-z_][A-Za-z0-9_]*$/);
  });
});

describe('kubernetes', () => {
  const template = { metadata: { labels: { app: 'agent' } }, spec: { containers: [] } };
  const pods = (scaler: object, over: object = {}) =>
    pool({ name: 'shell', ...over, auto_scaler: { backend: { kubernetes: { template } }, ...scaler } });

  it('writes the AgentPool that makes the same pool', () => {
    const scaler = { max_agents: 4, min_idle_agents: 1, default_slots_per_agent: 2, idle_decay: '1m' };

    const text = renderAgentPool(pods(scaler), { namespace: 'velda' });

    expect(parse(text)).toEqual({
      apiVersion: 'velda.io/v1',
      kind: 'AgentPool',
      metadata: { name: 'shell', namespace: 'velda' },
      spec: {
        agentAuth: 'token',
        autoscaler: {
          minReplicas: 0,
          maxReplicas: 4,
          minIdle: 1,
          maxIdle: 2,
          defaultSlotsPerAgent: 2,
          idleDecaySecond: 60,
          killUnknownAfterSecond: 0,
        },
        template,
      },
    });
  });

  it('keeps windows and wait target', () => {
    const window = { days: 'mon-fri', from: '08:00', to: '18:00', timezone: 'Europe/Berlin' };
    const scaler = {
      schedules: [{ ...window, min_idle_agents: 10 }],
      wait_target: { p95: '1m30s', max_idle_agents: 20 },
    };

    const text = renderAgentPool(pods(scaler), {});

    expect(parse(text).spec.autoscaler).toMatchObject({
      schedules: [{ ...window, minIdle: 10 }],
      waitTarget: { p95Seconds: 90, maxIdle: 20 },
    });
    expect(text).not.toContain('left out');
    expect(renderTerraform(pods(scaler), {})).toContain('timezone        = "Europe/Berlin"');
  });

  it('keeps policy, timeouts, proof and namespace of the pool', () => {
    const settings = { update_policy: 'rolling', drain_timeout: '2h', boot_timeout: '10m', agent_auth: 'machine' };
    const backend = { kubernetes: { template, namespace: 'ml', scheduling_timeout: '5m' } };

    const { metadata, spec } = parse(renderAgentPool(pods({ backend }, settings), {}));

    expect(metadata).toEqual({ name: 'shell', namespace: 'ml' });
    expect(spec).toMatchObject({
      updatePolicy: 'rolling',
      drainTimeoutSeconds: 7_200,
      bootTimeoutSeconds: 600,
      schedulingTimeoutSeconds: 300,
      agentAuth: 'machine',
    });
  });

  it('writes several backends as templates in their order, with their terms', () => {
    const backends = [{ kubernetes: { template }, price_per_hour: 1.5, max_agents: 2 }, { kubernetes: { template } }];

    const { spec } = parse(renderAgentPool(pods({ backend: undefined, backends }), {}));

    expect(spec.template).toBeUndefined();
    expect(spec.templates).toEqual([{ ...template, pricePerHour: 1.5, maxReplicas: 2 }, template]);
  });

  it('names what an AgentPool has no word for, and refuses what it cannot be', () => {
    const text = renderAgentPool(pods({ mode: 'batch' }, { labels: { a: 'b' } }), {});

    expect(text).toContain('# shell: labels left out: an AgentPool has no such field\n');
    expect(text).toContain('auto_scaler.mode');
    expect(() => renderAgentPool(pool({ name: 'manual' }), {})).toThrow(/its backend is none/);
    expect(() => renderAgentPool(pods({ idle_decay: '1s500ms' }), {})).toThrow(/idle_decay has fractions of a second/);
    expect(() => renderAgentPool({ ...pods({}), name: 'Shell' }, {})).toThrow(/lowercase letters/);
    const elsewhere = { name: 'p', auto_scaler: { backend: { kubernetes: { pod_template_path: '/x' } } } };
    expect(() => renderAgentPool(pool(elsewhere), {})).toThrow(/a file on the server/);
  });
});

// From the block of the server's file to pools: what the registry makes of the objects of a bucket.
import { describe, expect, it } from 'vitest';
import { readEnvironment } from '#config/environment.ts';
import { knownKinds } from '#config/kinds.ts';
import { readPool } from '#config/pool-document.ts';
import { describeProblem } from '#config/problem.ts';
import { readServerFile } from '#config/server-file.ts';
import { SECOND_MS } from '#core/clock.ts';
import { opened, openWorld } from '#pools/testing/world.ts';
import { renderGcs } from '../../../cli/export/shell.ts';
import provider from '../index.ts';
import { openScene, SERVICE_ACCOUNT } from '../testing.ts';

const SEED = `
provisioners:
  - gcs:
      bucket: "velda-pool-configs"
      config_prefix: "pools/"
      update_interval: "120s"
`;

const kinds = knownKinds([provider]);

function readFile(text: string) {
  const { value: config, problems = [] } = readServerFile(text, { kinds, environment: readEnvironment({}) });
  return { source: config?.sources[0], problems: problems.map((problem) => describeProblem(problem)) };
}

const withKeys = (keys: string): string => `provisioners: [{gcs: {${keys}}}]`;

describe('the block of the seed', () => {
  it('is taken as it stands, and known by bucket and prefix', () => {
    const { source, problems } = readFile(SEED);

    expect(problems).toEqual([]);
    expect(source).toMatchObject({ id: 'gcs:velda-pool-configs/pools/', everyMs: 120_000 });
  });

  it('is known by the same place however its prefix is written, and asks every minute by default', () => {
    const { source } = readFile(withKeys('bucket: velda-pool-configs, config_prefix: pools'));

    expect(source).toMatchObject({ id: 'gcs:velda-pool-configs/pools/', everyMs: 60_000 });
  });

  it.each([
    ['bucket: "gs://velda-pool-configs", config_prefix: pools/', 'must be the name of a bucket alone'],
    ['bucket: b-1, config_prefix: /pools', 'must not begin with /'],
    ['bucket: b-1', 'config_prefix'],
    ['bucket: b-1, prefix: pools/', 'config_prefix'],
    ['bucket: b-1, config_prefix: pools/, endpoint: "ftp://b"', 'endpoint'],
  ])('is refused with %s', (keys, why) => {
    expect(readFile(withKeys(keys)).problems.join('\n')).toContain(why);
  });
});

/** The pools of a bucket. */
async function poolsOf(objects: Readonly<Record<string, string>>) {
  const scene = openScene();
  scene.writeCredentials(SERVICE_ACCOUNT);
  for (const [name, text] of Object.entries(objects)) scene.bucket.put(name, text);
  const world = await openWorld([opened('gcs', await scene.openGcs())], {
    clock: scene.clock,
    readPool(text, { trust }) {
      const read = readPool(text, { kinds: {}, trust });
      return read.problems ? { problems: read.problems } : { spec: read.spec };
    },
  });
  await scene.clock.advance(SECOND_MS);
  return world;
}

describe('the objects of a bucket', () => {
  it('become pools: as Terraform encodes them, as YAML and without a suffix', async () => {
    const world = await poolsOf({
      'pools/gpu-pool.json': '{"auto_scaler":{"max_agents":15,"min_idle_agents":2},"name":"gpu-pool"}',
      'pools/ml/cpu.yaml': 'name: cpu\nauto_scaler: {max_agents: 3}\n',
      'pools/plain': 'name: plain\n',
    });

    expect(['gpu-pool', 'cpu', 'plain'].map((name) => world.pool(name)?.spec.scaling.maxAgents)).toEqual([15, 3, 0]);
  });

  it('that are no JSON are refused alone, each with its line', async () => {
    const world = await poolsOf({
      'pools/good.json': '{"name": "good"}',
      'pools/torn.json': '{\n  "name": "torn",\n  "auto_scaler": {\n',
      'pools/readme.md': '# Pools\n\nThese are ours.\n',
    });

    expect(world.pool('good')).toBeDefined();
    expect(world.document('gcs', 'pools/torn.json')?.fault?.message).toMatch(/^line 4, column 1: /);
    expect(world.document('gcs', 'pools/readme.md')?.fault?.kind).toBe('invalid');
  });

  it('that pool export has written are the pools that were exported', async () => {
    const document = { name: "it's", description: 'a "b" $c', auto_scaler: { max_agents: 2 } };
    const exported = { name: "it's", source: 'config', key: 'k', left_out: [], refused_elsewhere: [], document };
    const command = renderGcs(exported, { bucket: 'velda-pool-configs' });
    // What a shell makes of quoted text is tried by the tests of that text.
    const [, text = '', object = ''] =
      /^printf %s '(.*)' \| .* - '?gs:\/\/velda-pool-configs\/(.*?)'?\n$/.exec(command) ?? [];
    const plain = (quoted: string): string => quoted.replaceAll("'\\''", "'");
    const world = await poolsOf({ [plain(object)]: plain(text) });

    expect(plain(object)).toBe("pools/it's.json");
    expect(world.pool("it's")?.spec).toMatchObject({ name: "it's", scaling: { maxAgents: 2 } });
  });
});

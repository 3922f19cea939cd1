import { describe, expect, it } from 'vitest';
import { readEnvironment } from '#config/environment.ts';
import { knownKinds } from '#config/kinds.ts';
import { offerShapes } from '#config/offers.ts';
import { readPool } from '#config/pool-document.ts';
import { describeProblem } from '#config/problem.ts';
import { readServerFile } from '#config/server-file.ts';
import type { Document } from '#core/provider.ts';
import { going } from '#core/testing/going.ts';
import type { AutoConfig } from './auto/config.ts';
import { openAuto } from './auto/source.ts';
import { type BidScene, openScene } from './fake/testing.ts';
import provider from './index.ts';

const SEED = `
provisioners:
  - mithril_auto:
      project_id: "proj_abc123"
      region: "us-west-2"
      api_token: "\${MITHRIL_API_TOKEN}"
      ssh_key_ids:
        - "key_xyz"
      autoscaler_config:
        max_agents: 5
        min_idle_agents: 0
      pool_details:
        - pool_name: "h100-8x"
          instance_type: "8xh100"
          limit_price: 4.50
          description: "8x H100 spot instances"
        - pool_name: "a100-8x"
          instance_type: "8xa100"
          limit_price: 3.20
          description: "8x A100 spot instances"
      max_suspended_bids: 2
`;
const kinds = knownKinds([provider]);

function readFile(text: string, variables: Readonly<Record<string, string>> = { MITHRIL_API_TOKEN: 'fkey_seed' }) {
  const environment = readEnvironment(variables, () => ({ text: 'x', isWorldReadable: false }));
  const { value: config, problems = [] } = readServerFile(text, { kinds, environment });
  return {
    config: config?.sources[0]?.config as AutoConfig,
    problems: problems.map((problem) => describeProblem(problem)),
  };
}

async function poolsOf(config: AutoConfig, scene: BidScene = openScene()): Promise<readonly Document[]> {
  const source = await openAuto(config, scene.contextFor());
  return scene.during(source.documents(new Map(), going()));
}

const specOf = ({ text = '' }: Document) => readPool(text, { kinds: provider.backends, trust: 'operator' });

describe('the block of the seed', () => {
  it('gives exactly the pools printed there', async () => {
    const { config, problems } = readFile(SEED);
    const pools = (await poolsOf(config)).map(specOf);

    expect(problems).toEqual([]);
    expect(pools.flatMap((pool) => pool.problems ?? [])).toEqual([]);
    expect(pools.map(({ spec }) => [spec?.name, spec?.description, spec?.offers[0]?.config])).toEqual([
      [
        'h100-8x',
        '8x H100 spot instances',
        {
          projectId: 'proj_abc123',
          region: 'us-west-2',
          apiToken: 'fkey_seed',
          sshKeyIds: ['key_xyz'],
          instanceType: '8xh100',
          limitPrice: 4.5,
          maxSuspendedBids: 2,
          allocationTimeout: 600_000,
        },
      ],
      ['a100-8x', '8x A100 spot instances', expect.objectContaining({ instanceType: '8xa100', limitPrice: 3.2 })],
    ]);
    for (const { spec } of pools)
      expect(spec?.scaling).toMatchObject({ maxAgents: 5, minIdleSlots: 0, maxIdleSlots: 1, idleDecayMs: 60_000 });
  });

  it('merges the settings of a pool over the shared ones, key by key', async () => {
    const own = 'description: "8x A100 spot instances"\n          autoscaler_config: { max_idle_agents: 3 }';
    const { config } = readFile(SEED.replace('description: "8x A100 spot instances"', own));
    const [, a100] = (await poolsOf(config)).map(specOf);

    expect(a100?.spec?.scaling).toMatchObject({ maxAgents: 5, maxIdleSlots: 3, idleDecayMs: 60_000 });
  });

  it('names a variable that is not set', () => {
    expect(readFile(SEED, {}).problems.join()).toContain('the environment variable MITHRIL_API_TOKEN is not set');
  });

  it('wants a price that is a number', () => {
    expect(readFile(SEED.replace('4.50', '"$4.50"')).problems.join()).toContain(
      'pool_details[0].limit_price: must be a number: dollars per instance-hour, like 4.50',
    );
  });

  it('has a rotated token, more parked bids and another patience form the same machines', async () => {
    const shapeFor = async (text: string, token: string) => {
      const [first] = await poolsOf(readFile(text, { MITHRIL_API_TOKEN: token }).config);
      const [offer] = specOf(first as Document).spec?.offers ?? [];
      return offer && offerShapes(provider.backends)(offer);
    };
    const other = SEED.replace('max_suspended_bids: 2', 'max_suspended_bids: 4\n      allocation_timeout: 5m');

    expect(await shapeFor(other, 'fkey_new')).toBe(await shapeFor(SEED, 'fkey_old'));
  });

  it('says what Mithril does not offer, with the nearest name, and makes the pools all the same', async () => {
    const scene = openScene();
    const { config } = readFile(SEED.replace('"8xh100"', '"8xh10"'));
    const source = await openAuto(config, scene.contextFor());
    const pools = await scene.during(source.documents(new Map(), going()));

    expect(pools).toHaveLength(2);
    expect(source.notes?.()).toEqual([
      'Mithril has no instance type "8xh10". Correct instance_type. Did you mean "8xh100"?',
    ]);
  });

  it('never has the removal of a pool held that was taken out of it', async () => {
    const source = await openAuto(readFile(SEED).config, openScene().contextFor());

    expect(source.isDefinite).toBe(true);
  });

  it('makes its pools also while Mithril is away', async () => {
    const scene = openScene();
    scene.fake.failureRules.add({ times: 1_000, what: { kind: 'lost request' } });

    expect(await poolsOf(readFile(SEED).config, scene)).toHaveLength(2);
  });
});

describe('what others write', () => {
  const bid = (more: object) =>
    readPool(
      JSON.stringify({
        name: 'a',
        auto_scaler: {
          backend: {
            mithril_spot_bid: {
              project_id: 'p',
              region: 'us-west-2',
              instance_type: '8xh100',
              limit_price: 4,
              ...more,
            },
          },
        },
      }),
      { kinds: provider.backends, trust: 'foreign' },
    ).problems?.map(({ path, message }) => `${path}: ${message}`) ?? [];

  it.each([
    [{ api_endpoint: 'https://evil.example' }, "api_endpoint may be set only in the operator's own file"],
    [{ limit_price: '$4.50' }, 'mithril_spot_bid.limit_price: must be a number'],
    [{ limit_price: 0 }, 'mithril_spot_bid.limit_price: must be at least 0.01 dollars per instance-hour'],
    [{ limit_price: 0.001 }, 'mithril_spot_bid.limit_price: must be at least 0.01 dollars per instance-hour'],
    [{ limit_prise: 4 }, 'limit_prise'],
  ])('%j is refused', (more, problem) => {
    expect(bid(more).join('\n')).toContain(problem);
  });

  it('may have every key that the original knows', () => {
    const known = { labels: { a: 'b' }, tailscale_config: {}, agent_version_override: 'v1', instance_name_prefix: 'x' };

    expect(bid({ ...known, memory_gb: 64, startup_script: `echo \${HOME}`, ssh_key_ids: [] })).toEqual([]);
  });
});

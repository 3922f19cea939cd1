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
import { type DropletScene, openScene } from './fake/testing.ts';
import provider from './index.ts';

const SEED = `
provisioners:
  - digitalocean_auto:
      region: "atl1"
      api_token: "\${DIGITALOCEAN_API_TOKEN}"
      ssh_key_ids:
        - 12345678
      autoscaler_config:
        max_agents: 10
        min_idle_agents: 1
      pool_details:
        - pool_name: "mi300x-1gpu"
          size: "gpu-mi300x1-192gb-devcloud"
          image: "amd-rocm71software"
          description: "Single MI300X GPU"
        - pool_name: "mi300x-8gpu"
          size: "gpu-mi300x8-1536gb-devcloud"
          image: "amd-rocm71software"
          description: "8x MI300X GPU"
`;
const kinds = knownKinds([provider]);

function readFile(
  text: string,
  variables: Readonly<Record<string, string>> = { DIGITALOCEAN_API_TOKEN: 'dop_v1_seed' },
) {
  const environment = readEnvironment(variables, () => ({ text: 'x', isWorldReadable: false }));
  const { value: config, problems = [] } = readServerFile(text, { kinds, environment });
  return {
    config: config?.sources[0]?.config as AutoConfig,
    problems: problems.map((problem) => describeProblem(problem)),
  };
}

async function poolsOf(config: AutoConfig, scene: DropletScene = openScene()): Promise<readonly Document[]> {
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
        'mi300x-1gpu',
        'Single MI300X GPU',
        {
          region: 'atl1',
          size: 'gpu-mi300x1-192gb-devcloud',
          image: 'amd-rocm71software',
          apiToken: 'dop_v1_seed',
          sshKeyIds: [12345678],
        },
      ],
      ['mi300x-8gpu', '8x MI300X GPU', expect.objectContaining({ size: 'gpu-mi300x8-1536gb-devcloud' })],
    ]);
    for (const { spec } of pools)
      expect(spec?.scaling).toMatchObject({
        maxAgents: 10,
        minIdleSlots: 1,
        minAgents: 0,
        maxIdleSlots: 1,
        idleDecayMs: 60_000,
      });
  });

  it('merges the settings of a pool over the shared ones, key by key', async () => {
    const { config } = readFile(`${SEED}          autoscaler_config: { max_agents: 2 }\n`);
    const [, eight] = (await poolsOf(config)).map(specOf);

    expect(eight?.spec?.scaling).toMatchObject({ maxAgents: 2, minIdleSlots: 1, idleDecayMs: 60_000 });
  });

  it('names a variable that is not set', () => {
    expect(readFile(SEED, {}).problems.join()).toContain('the environment variable DIGITALOCEAN_API_TOKEN is not set');
  });

  it('has a rotated token form the same machines', async () => {
    const shapeFor = async (token: string) => {
      const [first] = await poolsOf(readFile(SEED, { DIGITALOCEAN_API_TOKEN: token }).config);
      const [offer] = specOf(first as Document).spec?.offers ?? [];
      return offer && offerShapes(provider.backends)(offer);
    };

    expect(await shapeFor('dop_v1_new')).toBe(await shapeFor('dop_v1_old'));
  });

  it('says which sizes and regions DigitalOcean does not list, with the nearest, and makes the pools all the same', async () => {
    const scene = openScene();
    const { config } = readFile(SEED.replace('x1-192gb-devcloud', 'x1-192gb-devclod').replace('atl1', 'alt1'));
    const source = await openAuto(config, scene.contextFor());
    const pools = await scene.during(source.documents(new Map(), going()));

    expect(pools).toHaveLength(2);
    expect(source.notes?.()).toEqual([
      'DigitalOcean lists no size "gpu-mi300x1-192gb-devclod"; did you mean "gpu-mi300x1-192gb-devcloud"?',
      'DigitalOcean lists no region "alt1"; did you mean "atl1"?',
    ]);
  });

  it('never has the removal of a pool held that was taken out of it', async () => {
    const source = await openAuto(readFile(SEED).config, openScene().contextFor());

    expect(source.isDefinite).toBe(true);
  });

  it('makes its pools also while DigitalOcean is away', async () => {
    const scene = openScene();
    scene.fake.failureRules.add({ times: 1_000, what: { kind: 'lost request' } });

    expect(await poolsOf(readFile(SEED).config, scene)).toHaveLength(2);
  });

  it('refuses a name that stands there twice', () => {
    expect(readFile(SEED.replace('mi300x-8gpu', 'mi300x-1gpu')).problems.join()).toMatch(
      /pool_details\[1\]\.pool_name: "mi300x-1gpu" stands in pool_details twice/,
    );
  });
});

describe('what others may not write', () => {
  const droplet = (more: object) =>
    readPool(
      JSON.stringify({
        name: 'a',
        auto_scaler: {
          backend: { digitalocean_droplet: { region: 'atl1', size: 'c-4', image: 'ubuntu-24-04-x64', ...more } },
        },
      }),
      { kinds: provider.backends, trust: 'foreign' },
    ).problems?.map(({ path, message }) => `${path}: ${message}`) ?? [];

  it.each([
    [{ tags: ['team.ml'] }, 'digitalocean_droplet.tags[0]: is no tag: DigitalOcean takes letters, digits'],
    [{ labels: { 'team/a': 'b' } }, 'digitalocean_droplet.labels["team/a"]: as the tag "team/a:b" is no tag'],
    [{ tags: ['muster-cluster:x'] }, 'digitalocean_droplet.tags[0]: must not begin with muster-'],
    [
      { api_endpoint: 'https://evil.example' },
      "digitalocean_droplet.api_endpoint: api_endpoint may be set only in the operator's own file",
    ],
    [{ siez: 'c-4' }, 'siez'],
  ])('%j', (more, problem) => {
    expect(droplet(more).join('\n')).toContain(problem);
  });

  it('while an image may be a number, and all keys of the original are known', () => {
    expect(
      droplet({
        image: 118857366,
        name: 'x',
        agent_version_override: 'v1',
        tailscale_config: {},
        ssh_key_ids: ['ab:cd'],
      }),
    ).toEqual([]);
  });
});

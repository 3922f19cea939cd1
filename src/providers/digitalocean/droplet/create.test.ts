import { describe, expect, it } from 'vitest';
import { Fault } from '#core/fault.ts';
import type { Outcome } from '#core/provider.ts';
import { going } from '#core/testing/going.ts';
import { aBatch } from '../../../conformance/scene.ts';
import { type DropletScene, GPU, openBackend, openScene, TOKEN } from '../fake/testing.ts';

const bodies = ({ fake }: DropletScene) =>
  fake.calls.filter(({ action }) => action === 'create').map(({ body }) => body);
const faultOf = (call: Promise<readonly Outcome[]>): Promise<Fault> =>
  call.then(
    ([first]) => first?.fault ?? new Fault('internal', 'it succeeded'),
    (thrown) => Fault.from(thrown),
  );

describe('a creation', () => {
  it('makes ten droplets by one request, each under its own name and with the whole mark', async () => {
    const scene = openScene();
    const launch = aBatch(10);
    const outcomes = await scene.during((await openBackend(scene)).create(launch, going()));

    expect(outcomes).toEqual(launch.names.map((name) => ({ name, operation: expect.stringMatching(/^\d+$/) })));
    expect(bodies(scene)).toHaveLength(1);
    expect(bodies(scene)[0]).toMatchObject({ names: launch.names, region: 'atl1', image: 'amd-rocm71software' });
    expect(bodies(scene)[0]?.tags).toEqual([
      'muster-cluster:cluster1',
      'muster-pool:pool1',
      'muster-shape:0123456789ab',
    ]);
    expect(bodies(scene)[0]?.user_data).toContain('/metadata/v1/hostname');
  });

  it('sends what the configuration says, tags and labels too', async () => {
    const scene = openScene();
    const more = {
      tags: ['team:ml'],
      labels: { cost: 'a1' },
      sshKeyIds: [7],
      monitoring: true,
      ipv6: false,
      image: '42',
    };
    await scene.during((await openBackend(scene, { ...GPU, ...more })).create(aBatch(1), going()));

    expect(bodies(scene)[0]).toMatchObject({ ssh_keys: [7], monitoring: true, ipv6: false, image: 42 });
    expect(bodies(scene)[0]?.tags).toEqual(expect.arrayContaining(['team:ml', 'cost:a1']));
  });

  it('makes more than ten by a request for each ten, and each request has its own outcome', async () => {
    const scene = openScene();
    const launch = aBatch(25);
    scene.fake.stock.set(GPU.size, 20);
    const outcomes = await scene.during((await openBackend(scene)).create(launch, going()));

    expect(bodies(scene).map(({ names }) => (names as string[]).length)).toEqual([10, 10, 5]);
    expect(outcomes.filter(({ operation }) => operation).map(({ name }) => name)).toEqual(launch.names.slice(0, 20));
    expect(outcomes.slice(20).map(({ fault }) => fault?.kind)).toEqual(Array(5).fill('exhausted'));
  });

  it('whose reply was lost asks not to be repeated while listings may be late; a repeat finds the droplets', async () => {
    const scene = openScene({ lagMs: 50_000 });
    const backend = await openBackend(scene);
    scene.fake.failureRules.add({ action: 'create', what: { kind: 'lost reply' } });
    const first = await faultOf(scene.during(backend.create(aBatch(2), going())));
    await scene.clock.advance(first.retryAfterMs ?? 0);
    const second = await scene.during(backend.create(aBatch(2), going()));

    expect(first.kind).toBe('unavailable');
    expect(first.retryAfterMs).toBeGreaterThan(90_000);
    expect(second).toHaveLength(2);
    expect([bodies(scene).length, scene.fake.droplets.length]).toEqual([1, 2]);
  });

  it('that never arrived is repeated after that', async () => {
    const scene = openScene();
    const backend = await openBackend(scene);
    scene.fake.failureRules.add({ action: 'create', what: { kind: 'lost request' } });
    await faultOf(scene.during(backend.create(aBatch(2), going())));
    await scene.clock.advance(121_000);

    expect(await scene.during(backend.create(aBatch(2), going()))).toHaveLength(2);
    expect(scene.fake.droplets).toHaveLength(2);
  });

  it('that could not even leave may be repeated at once', async () => {
    const scene = openScene();
    const backend = await openBackend(scene);
    scene.fake.failureRules.add({ action: 'create', what: { kind: 'no such host' } });
    const unsent = await faultOf(scene.during(backend.create(aBatch(1), going())));

    expect(unsent).toMatchObject({ kind: 'unavailable', retryAfterMs: undefined });
    expect(await scene.during(backend.create(aBatch(1), going()))).toHaveLength(1);
  });
});

describe('a refusal', () => {
  it.each([
    ['an unknown size', { size: 'gpu-mi300x1-192gb-devclud' }, 'did you mean "gpu-mi300x1-192gb-devcloud"?'],
    ['an unknown region', { region: 'atl11' }, 'did you mean "atl1"?'],
  ])("of %s names the nearest of the cloud's own list", async (_what, more, remedy) => {
    const scene = openScene();
    const backend = await openBackend(scene, { ...GPU, ...more });
    const fault = await faultOf(scene.during(backend.create(aBatch(1), going())));

    expect(fault.kind).toBe('invalid');
    expect(fault.message).toContain('You specified an invalid');
    expect(fault.remedy).toContain(remedy);
  });

  it('is classified by its text: limit, stock, the rest', async () => {
    const scene = openScene();
    const backend = await openBackend(scene);
    scene.fake.limit = 1;
    const limit = await faultOf(scene.during(backend.create(aBatch(2, 'l1'), going())));
    scene.fake.limit = 100;
    scene.fake.stock.set(GPU.size, 1);
    const stock = await faultOf(scene.during(backend.create(aBatch(2, 'l2'), going())));

    expect([limit.kind, stock.kind]).toEqual(['quota', 'exhausted']);
    expect(limit.remedy).toBe('Ask DigitalOcean to raise the droplet limit of the account, or lower max_agents.');
    expect(scene.fake.droplets).toEqual([]);
  });
});

describe('where to ask', () => {
  const hostOf = async (config: object, variables: Readonly<Record<string, string>> = {}) => {
    const scene = openScene();
    const { cloud } = await openBackend(scene, config, scene.contextFor('cluster1', variables));
    return cloud.split(':').slice(1, -1).join(':');
  };

  it('comes from the size, then the environment, then the configuration', async () => {
    expect(await hostOf(GPU)).toBe('api-amd.digitalocean.com');
    expect(await hostOf({ ...GPU, size: 'gpu-h100x1-80gb' })).toBe('api.digitalocean.com');
    const there = { DIGITALOCEAN_API_URL: 'http://127.0.0.1:4567/v2' };
    expect(await hostOf(GPU, there)).toBe('127.0.0.1:4567');
    expect(await hostOf({ ...GPU, apiEndpoint: 'https://proxy.example' }, there)).toBe('proxy.example');
  });

  it('needs a token, which may come from the environment', async () => {
    const scene = openScene();
    const { apiToken: _token, ...bare } = GPU;

    await expect(openBackend(scene, bare)).rejects.toMatchObject({
      kind: 'unauthenticated',
      remedy: expect.stringContaining('DIGITALOCEAN_API_TOKEN'),
    });
    expect((await openBackend(scene, bare, scene.contextFor('c', { DIGITALOCEAN_API_TOKEN: TOKEN }))).cloud).toContain(
      'amd',
    );
  });

  it('is the same cloud with a new token of the account, and another with that of another account', async () => {
    const scene = openScene();
    scene.fake.accounts.set('theirs', 'another-account');
    scene.fake.tokens.add('rotated');
    const cloudOf = async (apiToken: string) => (await openBackend(scene, { ...GPU, apiToken })).cloud;

    expect(await cloudOf('rotated')).toBe(await cloudOf(GPU.apiToken));
    expect(await cloudOf('theirs')).not.toBe(await cloudOf(GPU.apiToken));
  });
});

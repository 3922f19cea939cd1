import { describe, expect, it } from 'vitest';
import { going } from '#core/testing/going.ts';
import { aBatch } from '../../../conformance/scene.ts';
import { GPU, openBackend, openScene } from '../fake/testing.ts';

describe('a listing', () => {
  it('holds droplets with and without GPUs, more than one page of each', async () => {
    const scene = openScene({ pageSize: 2 });
    const context = scene.contextFor();
    const gpu = await openBackend(scene, GPU, context);
    const plain = await openBackend(
      scene,
      { ...GPU, size: 's-1vcpu-1gb', apiEndpoint: 'https://api-amd.digitalocean.com' },
      context,
    );
    await scene.during(gpu.create(aBatch(5, 'l1'), going()));
    const launch = aBatch(5, 'l2');
    await scene.during(plain.create({ ...launch, names: launch.names.map((name) => `${name}p`) }, going()));
    await scene.clock.advance(10_000);
    const machines = await scene.during(gpu.list(going()));

    expect(plain.cloud).toBe(gpu.cloud);
    expect(machines).toHaveLength(10);
    expect(machines[0]).toMatchObject({ state: 'running', addresses: [expect.stringMatching(/^10\./)] });
  });

  it('of numbered pages skips nothing when a droplet ends between two of them', async () => {
    const scene = openScene({ pageSize: 1 });
    const backend = await openBackend(scene);
    await scene.during(backend.create(aBatch(4), going()));
    await scene.clock.advance(10_000);
    const [first] = scene.fake.droplets;
    // The first page is read; then the droplet on it is destroyed by someone.
    scene.fake.failureRules.add({
      times: 1,
      when: ({ action, page, query }) => action === 'list' && page === 2 && query.type === 'gpus',
      what: { kind: 'slow', ms: 5_000 },
    });
    const listing = scene.during(backend.list(going()));
    if (first) scene.fake.destroy(first);
    const names = (await listing).map(({ name }) => name);

    expect(names).toEqual(expect.arrayContaining(scene.fake.droplets.slice(1).map(({ name }) => name)));
  });

  it('shows two pools of equal definitions apart', async () => {
    const scene = openScene();
    const backend = await openBackend(scene);
    const [one, two] = [aBatch(1, 'l1'), aBatch(1, 'l2')];
    await scene.during(backend.create(one, going()));
    const names = two.names.map((name) => `${name}2`);
    await scene.during(backend.create({ ...two, names, mark: { ...two.mark, owner: 'pool2' } }, going()));
    await scene.clock.advance(10_000);

    expect((await scene.during(backend.list(going()))).map(({ mark }) => mark?.owner)).toEqual(['pool1', 'pool2']);
  });

  it('costs two requests where nothing has changed', async () => {
    const scene = openScene();
    const backend = await openBackend(scene);
    await scene.during(backend.list(going()));
    const before = scene.fake.calls.length;
    await scene.during(backend.list(going()));

    expect(scene.fake.calls.length - before).toBe(2);
  });
});

describe('a deletion', () => {
  it('of many is two requests once the tag exists, and deletes no other droplet', async () => {
    const scene = openScene();
    const backend = await openBackend(scene);
    await scene.during(backend.create(aBatch(10), going()));
    const stranger = scene.fake.add({ size: GPU.size });
    await scene.clock.advance(10_000);
    const machines = await scene.during(backend.list(going()));
    const before = scene.fake.calls.length;
    const outcomes = await scene.during(backend.delete(machines.slice(0, 8), going()));
    const calls = scene.fake.calls.slice(before).map(({ action }) => action);
    await scene.clock.advance(10_000);

    expect(outcomes.filter(({ fault }) => fault)).toEqual([]);
    expect(calls).toEqual(['createTag', 'tag', 'deleteByTag']);
    expect(await scene.during(backend.list(going()))).toHaveLength(2);
    expect(scene.fake.droplets.find((one) => one === stranger)?.timeline.at(-1)?.state).toBe('active');
  });

  it('goes one by one where the tag would also delete other droplets', async () => {
    const scene = openScene();
    const backend = await openBackend(scene);
    await scene.during(backend.create(aBatch(10), going()));
    await scene.clock.advance(10_000);
    scene.fake.droplets[9]?.tags.add('muster-ending:cluster1');
    const machines = await scene.during(backend.list(going()));
    await scene.during(backend.delete(machines.slice(0, 8), going()));
    await scene.clock.advance(10_000);

    expect(await scene.during(backend.list(going()))).toHaveLength(2);
    expect(scene.fake.countOf('deleteByTag')).toBe(0);
  });

  it('by a tag that took nothing is repeated droplet by droplet', async () => {
    const scene = openScene();
    const backend = await openBackend(scene);
    await scene.during(backend.create(aBatch(8), going()));
    await scene.clock.advance(10_000);
    const machines = await scene.during(backend.list(going()));
    scene.fake.ignoresTags = true;
    await scene.during(backend.delete(machines, going()));
    await scene.clock.advance(61_000);
    const left = await scene.during(backend.list(going()));
    await scene.during(backend.delete(left, going()));
    await scene.clock.advance(10_000);

    expect(left).toHaveLength(8);
    expect(await scene.during(backend.list(going()))).toEqual([]);
  });
});

it('tells what a droplet costs, where DigitalOcean does', async () => {
  const scene = openScene();
  const priceOf = async (size: string) => {
    const { pricePerHour } = await openBackend(scene, { ...GPU, size });
    return pricePerHour && scene.during(pricePerHour(going()));
  };

  expect([await priceOf(GPU.size), await priceOf('gpu-of-tomorrow')]).toEqual([1.99, undefined]);
});

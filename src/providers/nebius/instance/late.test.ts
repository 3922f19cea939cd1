import { describe, expect, it } from 'vitest';
import type { Machine, PendingCreate } from '#core/provider.ts';
import { going } from '#core/testing/going.ts';
import { aBatch } from '../../../conformance/scene.ts';
import { H200, type NebiusScene, openBackend, openScene } from '../fake/testing.ts';

const listed = async (scene: NebiusScene, backend = openBackend(scene)): Promise<readonly Machine[]> =>
  scene.during((await backend).list(going()));

describe.each([
  ['is gone', false],
  ['stays in the state ERROR', true],
])('an instance whose creation failed and that %s', (_what, keepsFailed) => {
  it('is told of with the reason of its operation, also to another process, and is deleted as what may be left', async () => {
    const scene = openScene({ keepsFailed });
    const backend = openBackend(scene);
    scene.fake.stock.set(H200.platform, 1);
    const launch = aBatch(2);
    const pending = (await scene.during((await backend).create(launch, going()))) as PendingCreate[];
    const early = await scene.during((await openBackend(scene)).check?.(pending, going()) ?? Promise.resolve([]));
    await scene.clock.advance(10_000);
    const [made, failed] = await scene.during(
      (await openBackend(scene)).check?.(pending, going()) ?? Promise.resolve([]),
    );
    const machine: Machine = { name: launch.names[1] ?? '', mark: launch.mark, createdAt: 0, state: 'creating' };
    const [outcome] = await scene.during((await backend).delete([machine], going()));
    await scene.clock.advance(10_000);

    expect(early).toEqual(pending);
    expect(made).toEqual({ name: launch.names[0] });
    expect(failed).toMatchObject({ name: launch.names[1], fault: { kind: 'exhausted' } });
    expect(failed?.fault?.message).toMatch(
      /^The creation of \S+ by Nebius \(api\.nebius\.cloud\) failed: RESOURCE_EXHAUSTED: NotEnoughResources: /,
    );
    expect(failed?.fault?.remedy).toMatch(/^Wait, or offer/);
    expect(outcome).toEqual({ name: launch.names[1] });
    expect((await listed(scene, backend)).map(({ name }) => name)).toEqual([launch.names[0]]);
  });
});

it('an operation that Nebius has forgotten is unknown, and one that cannot be read stays pending', async () => {
  const scene = openScene({ bootMs: 600_000 });
  const backend = await openBackend(scene);
  const [pending] = (await scene.during(backend.create(aBatch(1), going()))) as [PendingCreate];
  const forgotten = { name: 'm-old', operation: 'computeoperation-99' };
  const both = await scene.during(backend.check?.([pending, forgotten], going()) ?? Promise.resolve([]));
  scene.fake.failureRules.add({ action: 'operation', what: { kind: 'garbage' } });
  const unread = await scene.during(backend.check?.([pending, forgotten], going()) ?? Promise.resolve([]));

  expect([both, unread]).toEqual([[pending], [pending]]);
});

it('in the state ERROR is explained also by a process that did not make it', async () => {
  const scene = openScene({ keepsFailed: true });
  scene.fake.refuseLate(1);
  await scene.during((await openBackend(scene)).create(aBatch(1), going()));
  await scene.clock.advance(10_000);
  const restarted = openBackend(scene);
  const [first] = await listed(scene, restarted);
  const asked = scene.fake.countOf('operations');
  await listed(scene, restarted);

  expect(first).toMatchObject({ state: 'failed', trouble: { kind: 'exhausted' } });
  expect(scene.fake.countOf('operations')).toBe(asked);
});

it('is explained by what failed last, from every page of its operations', async () => {
  const scene = openScene({ keepsFailed: true, pageSize: 1 });
  scene.fake.refuseLate(1);
  await scene.during((await openBackend(scene)).create(aBatch(1), going()));
  await scene.clock.advance(10_000);
  const [instance] = scene.fake.instances;
  const resource = instance?.id ?? '';
  // Whatever else was tried with it since, by others, came to an end without trouble.
  for (const description of ['update', 'relabel'])
    scene.fake.operations.begin({ resource, description, endsMs: scene.clock.now(), failure: undefined });

  expect(await listed(scene)).toMatchObject([{ state: 'failed', trouble: { kind: 'exhausted' } }]);
});

it('operations that may not be read fail no listing; the log says so', async () => {
  const scene = openScene({ keepsFailed: true });
  const backend = openBackend(scene);
  scene.fake.refuseLate(1);
  await scene.during((await backend).create(aBatch(2), going()));
  const denied = { kind: 'error', code: 'PermissionDenied' } as const;
  scene.fake.failureRules.add({ action: 'operations', times: 1_000, what: denied });
  await scene.clock.advance(5_000);

  expect((await listed(scene, backend)).map(({ state }) => state)).toEqual(['failed', 'running']);
  expect(scene.lines.join()).toContain('cannot find out why instances failed');
});

it('a listing of many that boot costs no looks at operations', async () => {
  const scene = openScene({ bootMs: 600_000 });
  const backend = await openBackend(scene);
  for (const owner of ['a', 'b', 'c']) await scene.during(backend.create(aBatch(20, owner, owner), going()));
  await scene.clock.advance(30_000);
  const before = scene.fake.countOf('operation');
  const machines = await scene.during(backend.list(going()));

  expect(machines).toHaveLength(60);
  expect(scene.fake.countOf('operation') - before).toBe(0);
});

describe('a deletion', () => {
  it('waits while Nebius still creates the instance, and says so', async () => {
    const scene = openScene({ bootMs: 30_000 });
    const backend = await openBackend(scene);
    await scene.during(backend.create(aBatch(1), going()));
    await scene.clock.advance(5_000);
    const machines = await scene.during(backend.list(going()));
    const [early] = await scene.during(backend.delete(machines, going()));
    await scene.clock.advance(40_000);
    const [later] = await scene.during(backend.delete(machines, going()));
    await scene.clock.advance(10_000);

    expect(early?.fault).toMatchObject({ kind: 'conflict' });
    expect(later?.fault).toBeUndefined();
    expect(await listed(scene)).toEqual([]);
  });

  it('of many looks them all up by one call', async () => {
    const scene = openScene();
    const backend = await openBackend(scene);
    await scene.during(backend.create(aBatch(20), going()));
    await scene.clock.advance(10_000);
    const machines = await scene.during(backend.list(going()));
    const before = scene.fake.calls.length;
    await scene.during(backend.delete(machines, going()));
    const actions = scene.fake.calls.slice(before).map(({ action }) => action);

    expect(actions).toEqual(['batchGet', ...machines.map(() => 'delete')]);
  });
});

// The original takes every instance of the project for a worker where a pool has no labels, and deletes those that are
// stopped.
it('without labels of its own leaves stopped instances of others alone', async () => {
  const scene = openScene();
  const stranger = scene.fake.add({ name: 'notebook', labels: { 'managed-by': 'velda' } });
  scene.fake.preempt(stranger);
  const backend = await openBackend(scene, { ...H200, maxDiskPoolSize: 1 });
  await scene.clock.advance(60_000);

  expect(await scene.during(backend.list(going()))).toEqual([]);
  expect(scene.fake.calls.map(({ action }) => action)).toEqual(['list']);
});

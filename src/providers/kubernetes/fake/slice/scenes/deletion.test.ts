import { describe, expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { KUBERNETES_SLICE, WHOLE_CLUSTER } from '../testing.ts';
import { aNamed, type KubeWorld, openKubeWorld, withBusyPool } from './testing.ts';

const FORCED = { metadata: { annotations: { 'muster.io/force-delete': '' } } };

async function openBusyWorld(durationMs = 5 * MINUTE_MS): Promise<KubeWorld> {
  const world = await openKubeWorld();
  await withBusyPool(world, durationMs);
  expect(world.pods('gpu')).toHaveLength(2);
  return world;
}

/** Nothing is left, and no session was cut short. */
function expectGone(world: KubeWorld, kills: number): void {
  const { pools, workers, launches, sessions } = world.life.store.view;
  expect([pools.size, workers.size, launches.size, sessions.size]).toEqual([0, 0, 0, 0]);
  expect(world.machines()).toEqual([]);
  expect(world.agents.kills).toHaveLength(kills);
}

describe('an AgentPool that is deleted while a session runs', () => {
  it.each([
    ['', {}],
    [' with --cascade=foreground', { propagationPolicy: 'Foreground' }],
    [' with --cascade=orphan', { propagationPolicy: 'Orphan' }],
  ])('drains, and the object goes last%s', async (_, options) => {
    const world = await openBusyWorld();

    world.others.remove(aNamed('gpu'), options);
    await world.clock.advance(MINUTE_MS);
    const draining = { pods: world.pods('gpu').length, ready: world.condition('gpu', 'Ready') };
    await world.clock.advance(3 * MINUTE_MS);
    expect(world.pool('gpu')).toBeDefined();
    await world.clock.advance(2 * MINUTE_MS);

    expect(draining.pods).toBe(1);
    expect(draining.ready).toContain('False Draining: Draining: 1 sessions left');
    expect(world.pool('gpu')).toBeUndefined();
    expectGone(world, 0);
  });

  it('goes on draining where the server is down meanwhile, and where it dies in the middle', async () => {
    const world = await openBusyWorld();
    world.restart();
    world.others.remove(aNamed('gpu'));
    await world.clock.advance(MINUTE_MS);
    world.restart();
    await world.clock.advance(2 * MINUTE_MS);
    expect(world.pool('gpu')).toBeDefined();

    await world.clock.advance(4 * MINUTE_MS);

    expect(world.pool('gpu')).toBeUndefined();
    expectGone(world, 0);
  });

  it('goes within a minute where the force-delete annotation was there before', async () => {
    const world = await openBusyWorld(HOUR_MS);
    world.others.patch(aNamed('gpu'), FORCED);

    world.others.remove(aNamed('gpu'));
    await world.clock.advance(MINUTE_MS);

    expect(world.pool('gpu')).toBeUndefined();
    expectGone(world, 1);
  });

  it('goes within a minute of the force-delete annotation, where that comes during the drain', async () => {
    const world = await openBusyWorld(HOUR_MS);
    world.others.remove(aNamed('gpu'));
    await world.clock.advance(10 * MINUTE_MS);
    expect(world.pods('gpu')).toHaveLength(1);

    world.others.patch(aNamed('gpu'), FORCED);
    await world.clock.advance(MINUTE_MS);

    expect(world.pool('gpu')).toBeUndefined();
    expectGone(world, 1);
  });
});

describe('a namespace that is deleted', () => {
  it('goes with its pools and pods: nothing is launched into it, and nothing is left', async () => {
    const world = await openKubeWorld(WHOLE_CLUSTER);
    world.apply('stays');
    world.apply('goes', { namespace: 'other' });
    await world.clock.advance(MINUTE_MS);
    const before = world.pods('stays');
    expect(world.pods('goes')).toHaveLength(1);

    world.others.remove({ resource: 'namespaces', name: 'other' });
    await world.clock.advance(3 * MINUTE_MS);

    expect(world.fake.object('namespaces', undefined, 'other')).toBeUndefined();
    expect(world.fake.objects('pods', 'other')).toEqual([]);
    expect(world.poolId('goes')).toBeUndefined();
    expect(world.pods('stays')).toEqual(before);
    expect(world.life.store.view.workers.size).toBe(1);
  });

  it('ends the sessions that ran there: they neither hang nor run again', async () => {
    const world = await openKubeWorld(WHOLE_CLUSTER);
    world.apply('goes', { namespace: 'other' });
    await world.clock.advance(MINUTE_MS);
    await world.life.submit('goes', 1, HOUR_MS);
    await world.clock.advance(MINUTE_MS);

    world.others.remove({ resource: 'namespaces', name: 'other' });
    await world.clock.advance(5 * MINUTE_MS);

    expect(world.fake.object('namespaces', undefined, 'other')).toBeUndefined();
    expect([...world.agents.runs.values()]).toEqual([1]);
    expectGone(world, 1);
  });
});

it('all pools of a namespace that are deleted at once drain, though another source is down', async () => {
  const down = { name: 'down', place: 'elsewhere' } as const;
  const world = await openKubeWorld(KUBERNETES_SLICE, [{ name: 'documents', place: 'pools' }, down]);
  const names = ['a', 'b', 'c', 'd'];
  for (const name of names) world.apply(name);
  await world.clock.advance(MINUTE_MS);
  await world.life.submit('a', 1, 5 * MINUTE_MS);
  await world.clock.advance(MINUTE_MS);
  world.fake.failureRules.add({
    when: ({ target, verb }) => target?.namespace === 'elsewhere' && verb !== 'delete',
    what: { kind: 'error', code: 'ServiceUnavailable', status: 503 },
    times: 1e9,
  });
  world.restart();
  await world.clock.advance(30 * SECOND_MS);

  for (const name of names) world.others.remove(aNamed(name));
  await world.clock.advance(2 * MINUTE_MS);
  const left = names.filter((name) => world.pool(name));
  await world.clock.advance(4 * MINUTE_MS);

  expect(world.life.store.view.sources.get('down')?.fault?.kind).toBe('unavailable');
  expect(left).toEqual(['a']);
  expect(world.pool('a')).toBeUndefined();
  expectGone(world, 0);
});

describe('two AgentPools of one name in two namespaces', () => {
  const EDITED = { spec: { autoscaler: { maxReplicas: 4 } } };

  it('disturb the first in nothing; the second is at fault at each edit, and takes over when the first is gone', async () => {
    const world = await openKubeWorld(WHOLE_CLUSTER);
    world.apply('gpu');
    await world.clock.advance(MINUTE_MS);
    const before = world.pods('gpu');

    world.apply('gpu', { namespace: 'other' });
    await world.clock.advance(MINUTE_MS);
    const second = world.condition('gpu', 'Synced', 'other');
    for (const namespace of ['default', 'other']) world.others.patch(aNamed('gpu', namespace), EDITED);
    await world.clock.advance(MINUTE_MS);

    expect(second).toBe(
      'False NameTaken: AgentPool default/gpu has the name gpu. ' +
        'Rename this one or delete the other; this one takes its place when the other is gone.',
    );
    expect(world.condition('gpu', 'Synced')).toContain('True Applied');
    expect(world.condition('gpu', 'Stalled')).toBe('none');
    expect(world.pool('gpu')?.status).toMatchObject({ observedGeneration: 2, state: 'Ready' });
    expect([...world.life.store.view.pools.all()].map(({ spec }) => spec.scaling.maxAgents)).toEqual([4]);
    expect(world.pool('gpu', 'other')?.status).toMatchObject({ observedGeneration: 2, state: 'NameTaken' });
    expect(world.condition('gpu', 'Synced', 'other')).toBe(second);
    expect(world.pods('gpu')).toEqual(before);
    expect(world.fake.objects('pods', 'other')).toEqual([]);

    world.others.remove(aNamed('gpu'));
    await world.clock.advance(3 * MINUTE_MS);

    expect(world.pool('gpu')).toBeUndefined();
    expect(world.condition('gpu', 'Synced', 'other')).toContain('True Applied');
    expect(world.condition('gpu', 'Ready', 'other')).toContain('True');
    expect(world.fake.objects('pods', 'default')).toEqual([]);
    expect(world.fake.objects('pods', 'other')).toHaveLength(1);
  });

  it('that a new server finds at once belong to the older object, whatever their namespaces are called', async () => {
    const world = await openKubeWorld(WHOLE_CLUSTER, []);
    world.apply('gpu', { namespace: 'other' });
    await world.clock.advance(MINUTE_MS);
    world.apply('gpu');
    await world.setSources([{ name: 'documents', place: 'pools' }]);
    await world.clock.advance(MINUTE_MS);

    expect(world.condition('gpu', 'Synced', 'other')).toContain('True Applied');
    expect(world.condition('gpu', 'Synced')).toContain('False NameTaken: AgentPool other/gpu');
  });
});

it('a source takes no AgentPool of a namespace that the operator does not allow, and says so there', async () => {
  const entry = { name: 'documents', place: 'pools', allow: { namespaces: ['default'] } } as const;
  const world = await openKubeWorld(WHOLE_CLUSTER, [entry]);
  world.apply('ours');
  world.apply('theirs', { namespace: 'other' });
  await world.clock.advance(MINUTE_MS);

  expect(world.condition('ours', 'Synced')).toContain('True');
  expect(world.condition('theirs', 'Synced', 'other')).toContain('False NotAllowed');
  expect(world.fake.objects('pods', 'other')).toEqual([]);
  world.others.remove(aNamed('theirs', 'other'));
  await world.clock.advance(MINUTE_MS);
  expect(world.pool('theirs', 'other')).toBeUndefined();
});

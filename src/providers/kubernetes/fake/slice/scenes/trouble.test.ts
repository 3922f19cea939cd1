import { describe, expect, it } from 'vitest';
import { type Clock, HOUR_MS, MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import type { CallFailure } from '#fakes/failure-rules.ts';
import type { FakeKubernetes } from '../../fake-kubernetes.ts';
import type { KubeCall } from '../../wire/read-call.ts';
import { fakesOf, KUBERNETES_SLICE } from '../testing.ts';
import { type KubeWorld, openKubeWorld, withBusyPool } from './testing.ts';

const WRITES = ['create', 'update', 'patch', 'delete', 'deletecollection'];
const isList = ({ verb }: KubeCall): boolean => verb === 'list';
const MANY = 1e9;

/** Lists that come badly after a restart of the API server, which makes everyone list. */
const badLists = (what: CallFailure, times: number) => (fake: FakeKubernetes) => {
  fake.failureRules.add({ when: isList, what, times });
  fake.restart();
};

/** What goes wrong, and after how long it is over. */
const TROUBLES: readonly (readonly [what: string, begin: (fake: FakeKubernetes) => void, overMs: number])[] = [
  ['the API server starts anew', (fake) => fake.restart(), 0],
  ['watches are ended', (fake) => fake.watches.cut(), 0],
  ['connections break', (fake) => fake.watches.reset(), 0],
  ['watches fall silent, half open', (fake) => fake.watches.stall(), 0],
  [
    'the version of a watch is forgotten',
    (fake) => {
      fake.world.store.forget();
      fake.watches.cut();
    },
    0,
  ],
  [
    'it answers 503 for five minutes',
    (fake) => {
      fake.failureRules.add({ times: MANY, what: { kind: 'error', code: 'ServiceUnavailable', status: 503 } });
      fake.watches.reset();
    },
    5 * MINUTE_MS,
  ],
  ['a list takes ten seconds', badLists({ kind: 'slow', ms: 10 * SECOND_MS }, 2), 0],
  ['lists are cut off in the middle', badLists({ kind: 'truncated reply' }, 4), 0],
  [
    'writes of the status are refused as stale',
    (fake) => {
      const what = { kind: 'error', code: 'Conflict', status: 409 } as const;
      fake.failureRules.add({ action: 'patch agentpools/status', what, times: 3 });
    },
    0,
  ],
];

const boundTo = (clock: Clock): Clock => ({
  now: () => clock.now(),
  monotonic: () => clock.monotonic(),
  sleep: (ms, signal) => clock.sleep(ms, signal),
  alarm: (ms, ring) => clock.alarm(ms, ring),
  soon: (run) => clock.soon(run),
});

/** The pods that the idle pool and the busy one should have, and those of a pool that came in the middle. */
async function expectRight(world: KubeWorld, before: readonly string[]): Promise<void> {
  expect(world.pods('gpu')).toEqual(before);
  expect(world.pods('late')).toHaveLength(1);
  expect(world.condition('late', 'Ready')).toContain('True AgentsConnected');
  expect(world.calls(['delete', 'deletecollection'])).toEqual([]);
  expect([...world.agents.runs.values()]).toEqual([1]);
  expect(world.agents.kills).toEqual([]);
}

describe('where the API server is in trouble', () => {
  it.each(TROUBLES)('and %s, the view is right again within 30 s and nothing goes wrong', async (_, begin, overMs) => {
    const world = await openKubeWorld();
    await withBusyPool(world, HOUR_MS);
    const before = world.pods('gpu');
    expect(before).toHaveLength(2);
    world.calls([]);

    begin(world.fake);
    await world.clock.advance(overMs / 2);
    world.apply('late');
    await world.clock.advance(overMs / 2);
    if (overMs > 0) world.fake.failureRules.clear();
    await world.clock.advance(30 * SECOND_MS);

    await expectRight(world, before);
    await world.clock.advance(5 * MINUTE_MS);
    await expectRight(world, before);
    expect(world.life.workers.trouble(world.poolId('gpu') ?? '')).toBeUndefined();
  });

  it('a pod that vanishes while watches are half open is replaced within 30 s', async () => {
    const world = await openKubeWorld();
    world.apply('gpu');
    await world.clock.advance(MINUTE_MS);
    const before = world.pods('gpu');

    world.fake.watches.stall();
    world.others.remove({ resource: 'pods', namespace: 'default', name: before[0] ?? '' });
    await world.clock.advance(MINUTE_MS);

    expect(world.pods('gpu')).toHaveLength(1);
    expect(world.pods('gpu')).not.toEqual(before);
  });

  it.each([
    ['behind', -10 * MINUTE_MS],
    ['ahead of', 10 * MINUTE_MS],
  ])('a pod gets its whole time to be scheduled where the clock of the cluster is %s ours', async (_, skewMs) => {
    const world = await openKubeWorld({
      ...KUBERNETES_SLICE,
      openCloud: ({ clock, ...options }) =>
        KUBERNETES_SLICE.openCloud({ ...options, clock: { ...boundTo(clock), now: () => clock.now() + skewMs } }),
    });
    const placeable = world.fake.kubelet.rules.add({ unschedulable: '0/10 nodes are available: 10 Insufficient cpu.' });
    world.apply('gpu');
    await world.clock.advance(110 * SECOND_MS);
    const waiting = world.pods('gpu');
    await world.clock.advance(MINUTE_MS);
    const next = world.pods('gpu');
    placeable();
    await world.clock.advance(MINUTE_MS);

    expect(waiting).toHaveLength(1);
    expect(next).not.toContain(waiting[0]);
    expect(world.calls(['create']).filter((call) => call.startsWith('create pods'))).toHaveLength(2);
    expect(world.condition('gpu', 'Ready')).toContain('True');
  });

  it('a token that has expired is renewed without a failed call', async () => {
    let issued = 0;
    const world = await openKubeWorld({
      ...KUBERNETES_SLICE,
      openCloud(options) {
        const cloud = KUBERNETES_SLICE.openCloud(options);
        const fake = fakesOf.get(cloud) as FakeKubernetes;
        fake.users.admitsAnyone = false;
        const issue = (): string => {
          issued += 1;
          return fake.users.issue('kubernetes-admin', 3 * MINUTE_MS);
        };
        let token = issue();
        const access = {
          ...(cloud.openCluster?.() as NonNullable<ReturnType<NonNullable<typeof cloud.openCluster>>>),
          credential: async () => ({ headers: { authorization: `Bearer ${token}` }, tls: {} }),
          refused() {
            token = issue();
          },
        };
        const tokened = { ...cloud, openCluster: () => access };
        fakesOf.set(tokened, fake);
        return tokened;
      },
    });
    await withBusyPool(world, HOUR_MS);
    const before = world.pods('gpu');
    world.calls([]);

    await world.clock.advance(8 * MINUTE_MS);
    world.apply('late');
    await world.clock.advance(30 * SECOND_MS);

    await expectRight(world, before);
    expect(issued).toBeGreaterThan(2);
    expect(issued).toBeLessThan(7);
  });
});

it('writes nothing in ten quiet minutes, with idle and busy pods', async () => {
  const world = await openKubeWorld();
  await withBusyPool(world, HOUR_MS);
  await world.clock.advance(2 * MINUTE_MS);
  world.calls([]);

  await world.clock.advance(10 * MINUTE_MS);

  expect(world.calls(WRITES)).toEqual([]);
});

import { describe, expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { poolSubject } from '#core/reason.ts';
import { documentOf } from '#sim/slice/cloud.ts';
import { openSliceWorld, type SliceWorld } from '#sim/slice/world.ts';
import type { SliceSuite } from '../../../../conformance/slice-world.ts';
import type { FakeGcp } from '../fake-gcp.ts';
import { preempt } from './group.ts';
import { isLiving } from './instance.ts';
import { fakesOf, GROUP_SLICE, INSTANCE_SLICE } from './testing/slices.ts';

const fakeOf = ({ cloud }: SliceWorld): FakeGcp => fakesOf.get(cloud) as FakeGcp;

const KINDS: readonly (readonly [string, SliceSuite])[] = [
  ['gce_instance', INSTANCE_SLICE],
  ['gce_instance_group', GROUP_SLICE],
];
const SECOND_ZONE = 'us-central1-b';

/** A pool with the same machines in two zones. */
const inTwoZones = ({ backend: { kind, config } }: SliceSuite): string =>
  JSON.stringify({
    name: 'gpu-pool',
    auto_scaler: {
      backends: [config, { ...config, zone: SECOND_ZONE }].map((one) => ({ [kind]: one })),
      max_agents: 6,
      min_idle_agents: 4,
    },
  });

/** What `pool show`, `pool plan` and `pool why` say of it, each in one line. */
function saidOf({ life, poolId }: SliceWorld): (string | undefined)[] {
  const pool = poolId('gpu-pool') ?? '';
  const { workers, journal } = life;
  return [
    workers.trouble(pool)?.message,
    workers.plan(pool).why,
    journal.lastDecision(poolSubject(pool))?.decision.why,
  ];
}

const STOCK = 'e2-standard-4 us-central1-a';

describe.each(KINDS)('a zone that has no room for %s', (_kind, suite) => {
  it.each([
    ['stock', ({ world }: FakeGcp) => void world.compute.stock.set(STOCK, 0)],
    [
      'quota',
      (fake: FakeGcp) =>
        void fake.failureRules.add({
          action: suite.creation,
          when: ({ path }) => path.includes('us-central1-a'),
          times: 1e9,
          what: { kind: 'error', code: 'quotaExceeded', message: "Quota 'CPUS' exceeded.", status: 403 },
        }),
    ],
  ])('by its %s is followed by the next backend within a second of the refusal', async (_why, prepare) => {
    const world = await openSliceWorld(suite);
    prepare(fakeOf(world));
    world.documents.write('pools', 'gpu-pool', inTwoZones(suite));
    const fake = fakeOf(world);
    const creations = () => fake.calls.filter(({ action, outcome }) => action === suite.creation && outcome !== 'open');
    const zones = (): (string | undefined)[] => creations().map(({ path }) => /zones\/([^/]+)/.exec(path)?.[1]);
    let refusedAtMs = 0;
    for (let waited = 0; !zones().includes(SECOND_ZONE) && waited < 600; waited++) {
      await world.clock.advance(100);
      const pool = world.poolId('gpu-pool') ?? '';
      if (refusedAtMs === 0 && world.life.workers.trouble(pool) !== undefined) refusedAtMs = world.clock.now();
    }
    const second = creations().find(({ path }) => path.includes(SECOND_ZONE));
    await world.clock.advance(MINUTE_MS);

    expect((second?.atMs ?? Number.POSITIVE_INFINITY) - refusedAtMs).toBeLessThanOrEqual(SECOND_MS);
    expect(world.machines()).toHaveLength(4);
    expect(new Set(fake.world.compute.instances.map(({ zone }) => zone))).toEqual(new Set([SECOND_ZONE]));
  });

  it.each([
    [
      'stock',
      ({ world }: FakeGcp) => void world.compute.stock.set(STOCK, 0),
      ['exhausted: ', 'ZONE_RESOURCE_POOL_EXHAUSTED', 'Wait, or offer another machine type or zone.'],
    ],
    [
      'quota',
      ({ world }: FakeGcp) => void world.compute.cpus.set('us-central1', 0),
      ['quota: ', "Quota 'CPUS' exceeded", 'Raise the quota of the project in this region, or lower max_agents.'],
    ],
    [
      'a right',
      ({ world }: FakeGcp) =>
        void world.denied.add(
          suite === GROUP_SLICE ? 'compute.instanceGroupManagers.update' : 'compute.instances.create',
        ),
      ['denied: ', "Required 'compute.inst", 'roles/compute.instanceAdmin.v1'],
    ],
  ])('for want of %s says why and what to do in one line', async (_what, prepare, parts) => {
    const world = await openSliceWorld(suite);
    prepare(fakeOf(world));
    world.documents.write('pools', 'gpu-pool', documentOf(suite, 'gpu-pool'));
    await world.clock.advance(90 * SECOND_MS);

    for (const line of saidOf(world)) {
      for (const part of parts) expect(line).toContain(part);
      expect(line).not.toContain('\n');
    }
  });
});

describe('a preempted instance', () => {
  it.each(KINDS)(
    'of %s is a lost machine: its session starts anew elsewhere, and nothing is left of it',
    async (_kind, suite) => {
      const world = await openSliceWorld(suite);
      const { compute } = fakeOf(world).world;
      world.documents.write('pools', 'gpu-pool', documentOf(suite, 'gpu-pool', { scaler: { min_idle_agents: 0 } }));
      await world.clock.advance(MINUTE_MS);
      await world.life.submit('gpu-pool', 1, 20 * MINUTE_MS);
      await world.clock.advance(2 * MINUTE_MS);
      const [taken] = compute.instances.filter((one) => isLiving(one, world.clock.now()));
      if (taken) preempt(compute, taken);
      await world.clock.advance(15 * MINUTE_MS);
      const living = compute.instances.filter((one) => isLiving(one, world.clock.now()));

      expect([...world.agents.runs.values()]).toEqual([2]);
      expect(living.map(({ name }) => name)).not.toContain(taken?.name);
      expect(living).toHaveLength(1);
      await world.clock.advance(HOUR_MS);
      expect(world.life.store.view.sessions.size).toBe(0);
      expect([...world.agents.runs.values()]).toEqual([2]);
    },
  );

  it('that a group recreates while the server is down is known as another machine', async () => {
    const world = await openSliceWorld(GROUP_SLICE);
    const { compute } = fakeOf(world).world;
    world.documents.write('pools', 'gpu-pool', documentOf(GROUP_SLICE, 'gpu-pool', { scaler: { min_idle_agents: 0 } }));
    await world.clock.advance(MINUTE_MS);
    await world.life.submit('gpu-pool', 1, 20 * MINUTE_MS);
    await world.clock.advance(2 * MINUTE_MS);
    const [taken] = compute.instances.filter((one) => isLiving(one, world.clock.now()));
    compute.behaviour.noticeMs = 0;
    world.restart();
    if (taken) preempt(compute, taken);
    await world.clock.advance(15 * MINUTE_MS);

    const living = compute.instances.filter((one) => isLiving(one, world.clock.now()));
    expect([...world.agents.runs.values()]).toEqual([2]);
    expect(living.map(({ name }) => name)).not.toContain(taken?.name);
  });
});

// Machines of several pools, clusters and others in one account are never taken for one another; a pool that is
// removed takes its own machines along.

import { expect } from 'vitest';
import { MINUTE_MS } from '#core/clock.ts';
import { documentOf, type SliceHarness } from '#sim/slice/cloud.ts';
import { openSliceWorld, type SliceWorld } from '#sim/slice/world.ts';
import { callsAbout, idsOf, machinesOf, type SliceLaw } from './slice-world.ts';

/** A listed machine without a worker would be deleted at once. */
const STERN = { scaler: { kill_unknown_after: '1s' } };
const NAMED = { name: 'documents', place: 'pools' } as const;

/** A pool with an idle worker and a busy one whose session runs for ten minutes, beside another; its document goes. */
async function deletedWhileBusy(
  harness: SliceHarness,
  how: 'erase' | 'vanish',
): Promise<{ world: SliceWorld; pool: string }> {
  const world = await openSliceWorld(harness, { sources: [NAMED] });
  for (const name of ['other', 'gpu-pool']) world.documents.write('pools', name, documentOf(harness, name));
  await world.clock.advance(2 * MINUTE_MS);
  const pool = world.poolId('gpu-pool') ?? '';
  await world.life.submit('gpu-pool', 1, 10 * MINUTE_MS);
  await world.clock.advance(2 * MINUTE_MS);
  expect(machinesOf(world, pool)).toHaveLength(2);
  (world.documents[how] ?? world.documents.erase)('pools', 'gpu-pool');
  await world.clock.advance(2 * MINUTE_MS);
  return { world, pool };
}

/** With letters that most clouds refuse in the names and tags of machines, and as long as names may be. */
const ODD_NAMES = ['a.b_C:d/é', 'x'.repeat(200)];

const endsOf = ({ agents }: SliceWorld) => ({ runs: [...agents.runs.values()], kills: agents.kills });

export const APART_LAWS: readonly SliceLaw[] = [
  {
    id: 'equal pools',
    name: 'machines of two pools with equal definitions are never taken for one another',
    async check(_stage, harness) {
      const world = await openSliceWorld(harness);
      for (const name of ['one', 'two']) world.documents.write('pools', name, documentOf(harness, name, STERN));
      await world.clock.advance(2 * MINUTE_MS);
      const [one, two] = ['one', 'two'].map((name) => machinesOf(world, world.poolId(name))) as [string[], string[]];
      const { view } = world.life.store;
      const counts = ['one', 'two'].map((name) => view.workers.count('pool', world.poolId(name) ?? ''));

      world.documents.erase('pools', 'one');
      await world.clock.advance(5 * MINUTE_MS);

      expect(one).toHaveLength(1);
      expect(two).toHaveLength(1);
      expect(counts).toEqual([1, 1]);
      expect(idsOf(world)).toEqual(two);
      expect(callsAbout(world, two, harness)).toEqual([]);
    },
  },
  {
    id: 'odd names',
    name: 'a pool of any name that documents may have gets its own machines, and they join',
    async check(_stage, harness) {
      const world = await openSliceWorld(harness);
      for (const [at, name] of ODD_NAMES.entries())
        world.documents.write('pools', `p${at}`, documentOf(harness, name, STERN));
      await world.clock.advance(3 * MINUTE_MS);
      const pools = ODD_NAMES.map((name) => world.poolId(name));

      expect(
        world
          .machines()
          .map(({ mark }) => mark?.owner)
          .toSorted(),
      ).toEqual(pools.toSorted());
      const workers = [...world.life.store.view.workers.all()];
      expect(workers.filter(({ joinedAt }) => joinedAt !== undefined)).toHaveLength(ODD_NAMES.length);
    },
  },
  {
    id: 'two clusters',
    name: 'machines of two clusters are never seen by one another',
    async check(_stage, harness) {
      const first = await openSliceWorld(harness);
      const second = await openSliceWorld(harness, { beside: first, cluster: 'cluster2', seed: 1_000 });
      first.documents.write('pools', 'gpu-pool', documentOf(harness, 'gpu-pool', STERN));
      await first.clock.advance(2 * MINUTE_MS);
      const [ours, theirs] = [idsOf(first), idsOf(second)];
      const workers = [first, second].map(({ life }) => life.store.view.workers.size);
      const source = [...second.life.store.view.pools.all()][0]?.owner.source ?? '';

      await second.setSources([{ place: 'mistyped' }]);
      await first.clock.advance(2 * MINUTE_MS);
      await second.life.pools.approve(source, { who: 'test', from: 'here' });
      await first.clock.advance(5 * MINUTE_MS);

      expect([ours.length, theirs.length]).toEqual([1, 1]);
      expect(workers).toEqual([1, 1]);
      expect(idsOf(second)).toEqual([]);
      expect(idsOf(first)).toEqual(ours);
      expect(callsAbout(first, ours, harness)).toEqual([]);
    },
  },
  {
    id: 'foreign machines',
    name: 'machines without our whole mark are never listed, stopped or deleted',
    async check(_stage, harness) {
      const world = await openSliceWorld(harness);
      const foreign = await world.cloud.addForeign('cluster1');
      world.documents.write('pools', 'gpu-pool', documentOf(harness, 'gpu-pool', STERN));
      await world.clock.advance(10 * MINUTE_MS);
      world.restart();
      await world.clock.advance(10 * MINUTE_MS);
      const during = world.life.store.view.workers.size;
      world.documents.erase('pools', 'gpu-pool');
      await world.clock.advance(10 * MINUTE_MS);

      const nowMs = world.clock.now();
      const states = world.cloud.machines().flatMap((one) => (foreign.includes(one.id) ? one.state(nowMs) : []));
      expect(foreign.length).toBeGreaterThan(1);
      expect(states).toEqual(foreign.map(() => 'running'));
      expect(during).toBe(1);
      expect(world.life.store.view.workers.size).toBe(0);
      expect(world.cloud.fake.countOf(harness.removals[0] ?? '')).toBeGreaterThan(0);
      expect(callsAbout(world, foreign, harness)).toEqual([]);
    },
  },
  {
    id: 'removal',
    name: 'a removed pool loses its idle worker at once and its busy one after the session, and is then forgotten',
    async check(_stage, harness) {
      const { world, pool } = await deletedWhileBusy(harness, 'erase');
      const { view } = world.life.store;

      const draining = { removal: view.pools.get(pool)?.removal?.why, machines: machinesOf(world, pool).length };
      await world.clock.advance(10 * MINUTE_MS);

      const why = world.documents.erasedBecause?.('pools', 'gpu-pool') ?? 'Source "documents" no longer defines it.';
      expect(draining).toEqual({ removal: why, machines: 1 });
      expect(endsOf(world)).toEqual({ runs: [1], kills: [] });
      expect(view.sessions.size).toBe(0);
      expect(view.pools.get(pool)).toBeUndefined();
      expect([...view.pools.all()].map(({ name }) => name)).toEqual(['other']);
      expect(machinesOf(world, pool)).toEqual([]);
      expect(world.machines()).toHaveLength(1);
    },
  },
  {
    id: 'restored',
    name: 'a removed pool whose document returns before its last session has ended stays: the same pool, its session, and room for more',
    async check(_stage, harness) {
      const { world, pool } = await deletedWhileBusy(harness, 'vanish');
      const { view } = world.life.store;
      const [busy] = machinesOf(world, pool);

      const key = world.documents.write('pools', 'gpu-pool', documentOf(harness, 'gpu-pool'));
      await world.clock.advance(2 * MINUTE_MS);
      const restored = { pool: view.pools.get(pool), machines: machinesOf(world, pool) };
      await world.life.submit('gpu-pool', 1, MINUTE_MS);
      await world.clock.advance(15 * MINUTE_MS);

      expect(restored.pool).toMatchObject({ name: 'gpu-pool', owner: { key } });
      expect(restored.pool?.removal).toBeUndefined();
      expect(restored.machines).toContain(busy);
      expect(restored.machines).toHaveLength(2);
      expect(endsOf(world)).toEqual({ runs: [1, 1], kills: [] });
      expect(view.sessions.size).toBe(0);
      expect(view.pools.get(pool)?.removal).toBeUndefined();
      expect(machinesOf(world, pool)).toHaveLength(1);
    },
  },
];

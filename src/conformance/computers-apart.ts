// Many computers at a time, and pools beside them in one account: each has its own machine, and none touches another's.
import { expect } from 'vitest';
import { MINUTE_MS } from '#core/clock.ts';
import { documentOf } from '#sim/slice/cloud.ts';
import {
  type ComputerLaw,
  type ComputerScene,
  computersIn,
  create,
  everMade,
  expectNothingLeft,
  machinesOf,
  openScene,
  remove,
  statusIn,
} from './computers-world.ts';
import { divisorOf, madeTwice, numbers } from './slice-story.ts';
import { callsAbout, machinesOf as machinesOfPool } from './slice-world.ts';

const HUNDRED = 100;
/** By what they are divided in the short run. */
const SHORTER = 5;
const COMPUTERS = ['one', 'two'];

/** A listed machine without a worker would be deleted at once. */
const STERN = { scaler: { kill_unknown_after: '1s' } };

interface Shared extends ComputerScene {
  /** By whose they are. */
  ids(): Readonly<Record<string, readonly string[]>>;
}

const idOf = (scene: ComputerScene, name: string): string => computersIn(scene).find(name)?.computer.id ?? '';

/** A pool with an idle worker beside two computers. */
async function openShared(harness: Parameters<typeof openScene>[0]): Promise<Shared> {
  const scene = await openScene(harness);
  const { world } = scene;
  world.documents.write('pools', 'gpu-pool', documentOf(harness, 'gpu-pool', STERN));
  for (const [at, name] of COMPUTERS.entries()) await create(scene, name, harness.request(at));
  await world.clock.advance(2 * MINUTE_MS);
  const ids = () => ({
    pool: machinesOfPool(world, world.poolId('gpu-pool')),
    ...Object.fromEntries(COMPUTERS.map((name) => [name, machinesOfPool(world, idOf(scene, name))])),
  });
  expect(
    Object.values(ids()).map((all) => all.length),
    'machines of the pool and of each computer',
  ).toEqual([1, 1, 1]);
  return { ...scene, ids };
}

/** All that a backup of the store holds. */
function backupOf({ world: { disk } }: ComputerScene): () => void {
  const rows = [...disk.rows].map(([name, byId]) => [name, new Map(byId)] as const);
  return () => {
    disk.rows.clear();
    for (const [name, byId] of rows) disk.rows.set(name, new Map(byId));
  };
}

export const APART_LAWS: readonly ComputerLaw[] = [
  {
    id: 'hundred',
    name: 'a hundred computers come up and go at the same time; none leaks, and none is made twice',
    async check(_stage, harness) {
      const scene = await openScene(harness, { pageSize: 1_000 });
      const { world } = scene;
      const { clock } = world;
      // All hundred in the long run.
      const count = divisorOf(harness) === 1 ? HUNDRED : HUNDRED / SHORTER;
      const all = numbers(count);
      // Each of another token: one token may have only a few.
      await Promise.all(all.map((at) => create(scene, `dev-${at}`, harness.request(at), at)));
      await clock.advance(2 * MINUTE_MS + (harness.grownWithinMs ?? 0));
      const statuses = new Set(
        computersIn(scene)
          .list()
          .map(({ status, why }) => [status, why].join(' ').trim()),
      );
      const owners = new Set(machinesOf(scene).map(({ mark }) => mark?.owner));
      await Promise.all(all.map((at) => remove(scene, `dev-${at}`, at)));
      await clock.advance(3 * MINUTE_MS + (harness.grownWithinMs ?? 0));

      expect([...statuses]).toEqual(['running']);
      expect([owners.size, everMade(scene).length]).toEqual([count, count]);
      expect(madeTwice(world), 'machines made twice').toEqual([]);
      expectNothingLeft(scene);
      expect(world.disk.histories.endedComputers).toHaveLength(count);
    },
  },
  {
    id: 'apart',
    name: 'a pool and computers in one account never touch the machines of each other, also after a restart',
    async check(_stage, harness) {
      const scene = await openShared(harness);
      const { world, ids } = scene;
      const before = ids();
      world.restart();
      await world.clock.advance(2 * MINUTE_MS);
      expect(ids(), 'after a restart').toEqual(before);

      await remove(scene, 'one');
      await world.clock.advance(2 * MINUTE_MS);
      expect(ids(), 'without the first computer').toEqual({ ...before, one: [] });
      world.documents.erase('pools', 'gpu-pool');
      await world.clock.advance(2 * MINUTE_MS);
      expect(ids(), 'without the pool').toEqual({ pool: [], one: [], two: before.two });
      expect(statusIn(scene, 'two')).toBe('running');
      expect(
        callsAbout(world, before.two ?? [], harness).filter((action) => harness.removals.includes(action)),
      ).toEqual([]);

      await remove(scene, 'two');
      await world.clock.advance(2 * MINUTE_MS);
      expectNothingLeft(scene);
    },
  },
  {
    id: 'restored',
    name: 'after a restored backup a computer has its machine again, and nobody takes or deletes that of another',
    async check(_stage, harness) {
      const scene = await openScene(harness);
      const { world } = scene;
      const { clock, disk, server } = world;
      world.documents.write('pools', 'gpu-pool', documentOf(harness, 'gpu-pool', STERN));
      await clock.advance(MINUTE_MS);
      await create(scene, 'one', harness.request(0));
      // The first is in the backup, and its machine is not.
      const restore = backupOf(scene);
      await clock.advance(2 * MINUTE_MS);
      await create(scene, 'two', harness.request(1));
      await clock.advance(2 * MINUTE_MS);
      const before = world.machines().map(({ id, mark }) => [id, mark?.use, mark?.owner]);
      server.end(undefined);
      restore();
      disk.restoredAt = clock.now();
      await server.start();
      await clock.advance(4 * MINUTE_MS);

      expect(before).toHaveLength(3);
      expect(world.machines().map(({ id, mark }) => [id, mark?.use, mark?.owner])).toEqual(before);
      expect([statusIn(scene, 'one'), statusIn(scene, 'two')]).toEqual(['running', 'none']);
      await remove(scene, 'one');
      await clock.advance(2 * MINUTE_MS);
      const one = before.find(([, use]) => use === 'computer');
      expect(world.machines().map(({ id }) => id)).toEqual(before.flatMap(([id]) => (id === one?.[0] ? [] : [id])));
    },
  },
];

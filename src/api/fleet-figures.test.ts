import { expect, it } from 'vitest';
import type { Clock } from '#core/clock.ts';
import { noWorkers } from '#core/pool-counts.ts';
import { seededRandom } from '#core/random.ts';
import type { Change, Store } from '#core/store.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { emptyDisk, memoryDriver } from '../store/memory.ts';
import { openStore } from '../store/store.ts';
import { openFleetFigures } from './fleet-figures.ts';
import type { FleetSums } from './fleet-sums.ts';
import { anAgent, aSession, aWorker, gone, poolWithSecret, row } from './testing/rows.ts';

const pools = ['a', 'b', 'c'].map((name) => poolWithSecret(name));

/** A change of any row that the sums rest on. */
function anyChange(random: ReturnType<typeof seededRandom>, { view }: Store): Change {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random.next() * from.length)] as T;
  const pool = pick(pools);
  const n = Math.floor(random.next() * 6);
  const worker = `${pool.name}-m${n}`;
  const session = `${pool.name}-s${n}`;
  const known = view.workers.get(worker);
  const price = { pricePerHour: pick([undefined, undefined, 0.1, 0.7]) };
  return pick<() => Change>([
    () =>
      row(
        'workers',
        aWorker(worker, pool.id, { ...price, createdAt: pick([undefined, 1]), joinedAt: pick([undefined, 1]) }),
      ),
    () =>
      row('workers', {
        ...(known ?? aWorker(worker, pool.id)),
        ...pick([{ parked: { at: 1 } }, { drain: { at: 1, why: '' } }, { removal: { at: 1, why: '' } }]),
      }),
    () => gone('workers', worker),
    () => row('agents', { ...anAgent(worker, pool.id), unknown: pick([undefined, ['x']]) }),
    () => gone('agents', worker),
    () =>
      row(
        'sessions',
        aSession(session, pool, { acceptedAt: 100 + n, worker: pick([undefined, worker]), attempt: pick([0, 1]) }),
      ),
    () => gone('sessions', session),
    () =>
      row('offers', {
        id: 'o1',
        kind: 'process',
        config: {},
        prices: pick([undefined, [{ from: 0, perHour: 0.3 }], [{ from: 0, perHour: 0.5 }]]),
      }),
  ])();
}

const seen = (sums: FleetSums) => ({
  workers: sums.workers,
  sessions: sums.sessions,
  price: sums.price,
  ofPools: pools.map(({ id }) => sums.priceNanoOf(id)),
  waiting: [...sums.waiting].toSorted(),
  since: sums.queuedSince(),
});

it.each(Array.from({ length: 20 }, (_, seed) => seed))(
  'sums that followed any changes are those of a new count (seed %d)',
  async (seed) => {
    const random = seededRandom(seed);
    const clock = new VirtualClock();
    const store = await openStore(memoryDriver(emptyDisk()), () => {});
    await store.commit(pools.map((pool) => row('pools', pool)));
    const change = async (times: number) => {
      for (let n = 0; n < times; n += 1) await store.commit([anyChange(random, store)]);
    };
    await change(30);
    // Every look at the time ends a slice: changes come between any two pools that are counted.
    let ms = 0;
    const slow: Clock = {
      now: () => clock.now(),
      monotonic: () => (ms += 10),
      sleep: (forMs) => clock.sleep(forMs),
      alarm: (afterMs, ring) => clock.alarm(afterMs, ring),
      soon: (run) => void change(3).then(run),
    };

    const followed = await openFleetFigures({ store, clock: slow }).now();
    await change(200);

    const counted = await openFleetFigures({ store, clock }).now();
    expect(seen(followed)).toEqual(seen(counted));
    expect(Object.values(counted.workers).reduce((sum, count) => sum + count)).toBe(store.view.workers.size);
  },
);

it('sums are no longer kept two minutes after the last look, and right again at the next one', async () => {
  const clock = new VirtualClock();
  const store = await openStore(memoryDriver(emptyDisk()), () => {});
  const figures = openFleetFigures({ store, clock });
  await figures.now();

  await clock.advance(120_000);
  await store.commit([row('workers', aWorker('m1', 'p'))]);

  expect((await figures.now()).workers).toEqual({ ...noWorkers(), launching: 1 });
});

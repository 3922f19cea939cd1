import { describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#core/clock.ts';
import type { Change, RowOf, Store, TableName } from '#core/store.ts';
import { aPool } from '#core/testing/pool.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { FLEET, type Worker } from '#core/worker.ts';
import { emptyDisk, memoryDriver } from '../store/memory.ts';
import { openStore } from '../store/store.ts';
import { startSeries } from './series.ts';

const START = Date.UTC(2026, 0, 1);
const gpu = aPool({}, { name: 'gpu' });
const idle = aPool({}, { name: 'idle' });

const row = <T extends TableName>(table: T, value: RowOf<T>): Change => ({ table, id: value.id, row: value }) as Change;
const gone = (table: TableName, id: string): Change => ({ table, id, row: undefined }) as Change;
const aWorker = (id: string, more: Partial<Worker> = {}): Worker => ({
  ...{ id, pool: gpu.id, machine: id, offer: 'o1', askedAt: START, pricePerHour: 0.5 },
  ...more,
});

async function opened(disk = emptyDisk(), clock = new VirtualClock(START)) {
  const store: Store = await openStore(memoryDriver(disk), () => {});
  const wanted = new Map<string, number>();
  const series = startSeries({ store, clock, wanted: (pool) => wanted.get(pool) });
  await store.commit([row('pools', gpu), row('pools', idle)]);
  const of = (pool: string, since = START, stepMs = MINUTE_MS) => series.of(pool, { since, stepMs });
  return { store, clock, series, wanted, disk, of };
}

const minutes = (points: readonly { at: number }[]) => points.map(({ at }) => (at - START) / MINUTE_MS);

describe('figures by the minute', () => {
  it('tell what a pool has at each full minute, and all pools together', async () => {
    const { store, clock, wanted, series, of } = await opened();
    await clock.advance(MINUTE_MS);
    await store.commit([row('workers', aWorker('m1')), row('workers', aWorker('m2', { pricePerHour: undefined }))]);
    wanted.set(gpu.id, 3);
    await clock.advance(2 * MINUTE_MS);
    wanted.set(gpu.id, 2);
    series.touch(gpu.id);
    await clock.advance(MINUTE_MS);
    await store.commit([gone('workers', 'm1'), gone('workers', 'm2')]);
    wanted.set(gpu.id, 0);
    await clock.advance(MINUTE_MS);

    const none = { queued: 0, busy: 0, idle: 0, starting: 0, wanted: 0, dollars: 0 };
    const two = { ...none, starting: 2, wanted: 3, dollars: 0.5 };
    const expected = [none, two, two, { ...two, wanted: 2 }, none].map((values, n) => ({
      at: START + (n + 1) * MINUTE_MS,
      ...values,
    }));
    expect(await of(gpu.id)).toEqual(expected);
    expect(await of(FLEET)).toEqual(expected);
    expect((await of(idle.id)).map(({ starting }) => starting)).toEqual([0, 0, 0, 0, 0]);
  });

  it('are kept as one row an hour, with changes alone, and none of a pool without anything going on', async () => {
    const { store, clock, disk } = await opened();
    await store.commit([row('workers', aWorker('m1'))]);
    await clock.advance(2 * HOUR_MS + MINUTE_MS);

    expect(
      disk.histories.series.map(({ pool, hour, first, last, changes }) => [
        pool,
        (hour - START) / HOUR_MS,
        first,
        last,
        changes,
      ]),
    ).toEqual([
      [gpu.id, 0, 1, 59, [[1, 0, 0, 0, 1, 0, 0.5]]],
      [FLEET, 0, 1, 59, [[1, 0, 0, 0, 1, 0, 0.5]]],
      [gpu.id, 1, 0, 59, [[0, 0, 0, 0, 1, 0, 0.5]]],
      [FLEET, 1, 0, 59, [[0, 0, 0, 0, 1, 0, 0.5]]],
    ]);
  });

  it('survive a restart in the middle of an hour, and leave out the minutes without a server', async () => {
    const first = await opened();
    await first.store.commit([row('workers', aWorker('m1'))]);
    await first.clock.advance(10 * MINUTE_MS + 1);
    await first.series.stop();
    await first.store.close();
    await first.clock.advance(10 * MINUTE_MS);

    const { clock, of } = await opened(first.disk, first.clock);
    await clock.advance(5 * MINUTE_MS);

    const points = await of(gpu.id);
    expect(minutes(points)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 21, 22, 23, 24, 25]);
    expect(points.every(({ starting }) => starting === 1)).toBe(true);
  });

  it('go on over many hours, and begin where they are asked for', async () => {
    const { store, clock, of } = await opened();
    await store.commit([row('workers', aWorker('m1'))]);
    await clock.advance(DAY_MS + MINUTE_MS);

    const points = await of(gpu.id, START + DAY_MS - HOUR_MS);

    expect(points).toHaveLength(62);
    expect(points.every(({ starting, dollars }) => starting === 1 && dollars === 0.5)).toBe(true);
  });

  it('join to steps with the largest of each count, and what an hour cost in the mean', async () => {
    const { store, clock, of } = await opened();
    await clock.advance(57 * MINUTE_MS);
    await store.commit([row('workers', aWorker('m1')), row('workers', aWorker('m2'))]);
    await clock.advance(MINUTE_MS);
    await store.commit([gone('workers', 'm1'), gone('workers', 'm2')]);
    await clock.advance(MINUTE_MS);

    const steps = await of(gpu.id, START, 5 * MINUTE_MS);

    expect(minutes(steps)).toEqual([0, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55]);
    expect(steps.at(-1)).toMatchObject({ starting: 2, dollars: 0.2 });
  });

  it('follow the price of an offer, and its pool that is gone', async () => {
    const { store, clock, of } = await opened();
    await store.commit([row('workers', aWorker('m1', { pricePerHour: undefined }))]);
    await clock.advance(MINUTE_MS);
    await store.commit([row('offers', { id: 'o1', kind: 'x', config: {}, prices: [{ from: 0, perHour: 2 }] })]);
    await clock.advance(MINUTE_MS);
    await store.commit([gone('workers', 'm1'), gone('pools', gpu.id)]);
    await clock.advance(MINUTE_MS);

    expect((await of(FLEET)).map(({ dollars, starting }) => [dollars, starting])).toEqual([
      [0, 1],
      [2, 1],
      [0, 0],
    ]);
  });

  it('keep what was seen when someone sets the clock back', async () => {
    const { store, clock, of } = await opened();
    await store.commit([row('workers', aWorker('m1'))]);
    await clock.advance(10 * MINUTE_MS);
    clock.jump(-5 * MINUTE_MS);
    await store.commit([gone('workers', 'm1')]);
    await clock.advance(7 * MINUTE_MS);

    expect((await of(gpu.id)).map(({ starting }) => starting)).toEqual([...Array(10).fill(1), 0, 0]);
  });
});

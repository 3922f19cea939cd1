// Figures of each pool by the minute: the running hour in memory, the hours before in history.
import { type Clock, HOUR_MS, MINUTE_MS } from '#core/clock.ts';
import { idsFrom } from '#core/id.ts';
import { countPool } from '#core/pool-counts.ts';
import { addPrices } from '#core/pool-price.ts';
import type { SeriesHour, SeriesPoint, SeriesValues } from '#core/series.ts';
import { inSlices } from '#core/slices.ts';
import { append, type Store } from '#core/store.ts';
import { FLEET } from '#core/worker.ts';
import { isNothing, NO_VALUES, openMinuteRings } from './minute-rings.ts';
import { minutesOf, openSeriesSteps, partOf } from './series-steps.ts';

/** Figures of pools by the minute, for charts. */
export interface Series {
  /** Of a pool by its id, or of all pools together (`fleet`), in steps; minutes that no server has seen are left out. */
  of(pool: string, range: { readonly since: number; readonly stepMs: number }): Promise<SeriesPoint[]>;
  /** What a pool must have has changed. */
  touch(pool: string): void;
  /** Keeps what was seen of the running hour. */
  stop(): Promise<void>;
}

export interface SeriesDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** How many workers a pool must have, as far as that is known. */
  wanted(pool: string): number | undefined;
}

/** The part of an hour that this process has seen. */
interface SeenHour {
  readonly hour: number;
  readonly first: number;
  last: number;
}

const ROWS_A_COMMIT = 200;
const MOST_HOURS = 2_000;

function followPools(store: Store, touch: (pool: string | undefined) => void): () => void {
  const stops = [
    store.onChange('pools', (_after, _before, id) => touch(id)),
    store.onChange('workers', (after, before) => touch((after ?? before)?.pool)),
    store.onChange('agents', (after, before) => touch((after ?? before)?.owner)),
    store.onChange('sessions', (after, before) => touch((after ?? before)?.pool)),
    store.onChange('offers', (after, before, id) => {
      if (after?.prices !== before?.prices) for (const { pool } of store.view.workers.by('offer', id)) touch(pool);
    }),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

const plus = (one: SeriesValues, other: SeriesValues, sign: 1 | -1): SeriesValues => ({
  queued: one.queued + sign * other.queued,
  busy: one.busy + sign * other.busy,
  idle: one.idle + sign * other.idle,
  starting: one.starting + sign * other.starting,
  wanted: one.wanted + sign * other.wanted,
  dollars: one.dollars + sign * other.dollars,
});

export function startSeries({ store, clock, wanted }: SeriesDeps): Series {
  const rings = openMinuteRings();
  let touched = new Set<string>();
  let seen: SeenHour | undefined;
  let sum = NO_VALUES;
  let looking: Promise<void> = Promise.resolve();
  let isStopped = false;

  const stopFollowing = followPools(store, (pool) => void (pool !== undefined && touched.add(pool)));
  for (const { id } of store.view.pools.all()) touched.add(id);

  function valuesOf(pool: string): SeriesValues {
    if (!store.view.pools.get(pool)) return NO_VALUES;
    const { workers, sessions } = countPool(store, pool);
    const price = { priceNano: 0, unpriced: 0 };
    addPrices(store, price, store.view.workers.by('pool', pool));
    const { busy, idle, launching, booting } = workers;
    const starting = launching + booting;
    return { queued: sessions.queued, busy, idle, starting, wanted: wanted(pool) ?? 0, dollars: price.priceNano / 1e9 };
  }

  function look(pool: string, minute: number): void {
    const before = rings.read(pool, minute);
    const values = valuesOf(pool);
    if (!rings.has(pool) && isNothing(values)) return;
    rings.write(pool, minute, values);
    // As it is kept: what was added is what will be taken away.
    sum = plus(plus(sum, before, -1), rings.read(pool, minute), 1);
  }

  /** What an hour ends with, the next begins with; pools without anything going on have no ring in it. */
  function beginHour(hour: number, minute: number): void {
    const last = seen?.last ?? 0;
    sum = NO_VALUES;
    for (const pool of [...rings.ids]) {
      const values = pool === FLEET ? NO_VALUES : rings.read(pool, last);
      rings.drop(pool);
      if (isNothing(values)) continue;
      rings.write(pool, minute, values);
      sum = plus(sum, rings.read(pool, minute), 1);
    }
    seen = { hour, first: minute, last: minute };
  }

  function rowOf(pool: string, { hour, first, last }: SeenHour): SeriesHour {
    const id = `${idsFrom(hour + last * MINUTE_MS)}${pool}`;
    return { id, pool, hour, first, last, changes: rings.changes(pool) };
  }

  /** Writes the hour as it was seen. A store that fails ends the process by itself. */
  async function keepHour(): Promise<void> {
    if (!seen) return;
    let rows: SeriesHour[] = [];
    const commit = (): void => {
      store.commit(rows.map((row) => append('series', row))).catch(() => {});
      rows = [];
    };
    const ended = seen;
    await inSlices(clock, [...rings.ids], (pool) => {
      const row = rowOf(pool, ended);
      if (row.changes.length > 0 || pool === FLEET) rows.push(row);
      if (rows.length >= ROWS_A_COMMIT) commit();
    });
    commit();
  }

  async function lookAtAll(): Promise<void> {
    const atMs = clock.now();
    const hour = Math.floor(atMs / HOUR_MS) * HOUR_MS;
    const minute = Math.floor((atMs - hour) / MINUTE_MS);
    // Someone may have set the clock back: what was seen stays.
    if (seen && (hour < seen.hour || (hour === seen.hour && minute <= seen.last))) return;
    if (seen?.hour !== hour) {
      await keepHour();
      beginHour(hour, minute);
    }
    const due = touched;
    touched = new Set();
    await inSlices(clock, due, (pool) => look(pool, minute));
    rings.write(FLEET, minute, sum);
    if (seen) seen.last = minute;
  }

  let cancel = (): void => {};
  function lookEachMinute(): void {
    cancel = clock.alarm(MINUTE_MS - (clock.now() % MINUTE_MS), () => {
      looking = looking.then(lookAtAll);
      if (!isStopped) lookEachMinute();
    });
  }
  lookEachMinute();

  async function hoursOf(pool: string, since: number): Promise<readonly SeriesHour[]> {
    const page = { after: idsFrom(since), limit: MOST_HOURS, order: 'oldest first' } as const;
    const kept = await store.history.series({ pool }, page);
    if (!seen || (pool !== FLEET && !rings.has(pool))) return kept;
    return [...kept, rowOf(pool, seen)];
  }

  return {
    async of(pool, { since, stepMs }) {
      const [whole, own] = await Promise.all([hoursOf(FLEET, since), hoursOf(pool, since)]);
      const parts = new Map(own.map((hour) => [partOf(hour), hour]));
      const steps = openSeriesSteps(stepMs);
      await inSlices(clock, whole, (hour) => {
        for (const point of minutesOf(hour, parts.get(partOf(hour)))) if (point.at >= since) steps.add(point.at, point);
      });
      return steps.points();
    },
    touch: (pool) => void touched.add(pool),
    async stop() {
      isStopped = true;
      cancel();
      stopFollowing();
      await looking;
      await keepHour();
    },
  };
}

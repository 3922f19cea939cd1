import type { Clock } from '#core/clock.ts';
import type { Store } from '#core/store.ts';
import type { ChangeTable } from './noun.ts';

/** A changed row; its present value is read when it is sent. */
export interface Touch {
  readonly n: number;
  readonly table: string;
  readonly id: string;
}

/** Remembers which rows changed when, as far back as a reconnecting client may ask. */
export interface ChangeHub {
  /** Names this moment: `epoch-number`. */
  position(n?: number): string;
  /** All rows changed since that position; undefined if that is too long ago. */
  since(position: string): readonly Touch[] | undefined;
  subscribe(touched: (touch: Touch) => void): () => void;
  /** A row that memory no longer holds: a session that has ended, an event. */
  kept(touch: Touch): unknown;
  stop(): void;
}

const MOST_KEPT = 10_000;
// No client resumes after this long; meanwhile each change costs something.
const KEEP_FOR_MS = 120_000;

/** Forgets its oldest entry when it grows past `most`. */
function boundedMap<V>(most: number, forgotten: (value: V) => void = () => {}) {
  const map = new Map<string, V>();
  return {
    map,
    /** Put last, also where it was there before. */
    set(key: string, value: V): void {
      map.delete(key);
      map.set(key, value);
      if (map.size <= most) return;
      for (const [oldest, old] of map) {
        map.delete(oldest);
        forgotten(old);
        return;
      }
    },
  };
}

const keyOf = (table: string, id: string): string => `${table} ${id}`;

export function openChangeHub(store: Store, clock: Clock, tables: readonly ChangeTable[]): ChangeHub {
  let n = 0;
  /** All touches after this number are still known. */
  let floor = 0;
  /** While there are clients. */
  let following: readonly (() => void)[] | undefined;
  let cancelOff = (): void => {};
  const subscribers = new Set<(touch: Touch) => void>();
  const touches = boundedMap<Touch>(MOST_KEPT, (old) => {
    floor = old.n;
  });
  const keptRows = boundedMap<unknown>(MOST_KEPT);

  function touch(table: string, id: string | undefined, kept: unknown): void {
    if (id === undefined) return;
    n += 1;
    const made = { n, table, id };
    if (kept !== undefined) keptRows.set(keyOf(table, id), kept);
    touches.set(keyOf(table, id), made);
    for (const touched of subscribers) touched(made);
  }

  function turnOn(): void {
    cancelOff();
    following ??= tables.map((one) => one.follow(store, (id, kept) => touch(one.table, id, kept)));
  }

  function turnOff(): void {
    for (const stop of following ?? []) stop();
    following = undefined;
    n += 1;
    floor = n;
    touches.map.clear();
    keptRows.map.clear();
  }

  return {
    position: (at = n) => `${store.epoch}-${at}`,
    since(position) {
      const [epoch, at] = position.split('-').map(Number);
      if (!following || epoch !== store.epoch || at === undefined || !(at >= floor && at <= n)) return undefined;
      return [...touches.map.values()].filter((made) => made.n > at);
    },
    subscribe(touched) {
      turnOn();
      subscribers.add(touched);
      return () => {
        if (!subscribers.delete(touched) || subscribers.size > 0) return;
        cancelOff = clock.alarm(KEEP_FOR_MS, turnOff);
      };
    },
    kept: ({ table, id }) => keptRows.map.get(keyOf(table, id)),
    stop() {
      cancelOff();
      turnOff();
    },
  };
}

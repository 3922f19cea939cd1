import type { Clock } from '#core/clock.ts';
import type { EventRow } from '#core/journal.ts';
import type { Session } from '#core/session.ts';
import type { Change, Store } from '#core/store.ts';
import { FLEET } from '#core/worker.ts';
import { CHANGE_TABLES, type ChangeTable } from './wire/event.ts';

/** A row that is no longer as it was; what it is now is read when it is told. */
export interface Touch {
  readonly n: number;
  readonly table: ChangeTable;
  readonly id: string;
}

/** Knows which rows have changed since when, as far back as a client that lost its connection may ask. */
export interface ChangeHub {
  /** Names this moment: `epoch-number`. */
  position(n?: number): string;
  /** Everything touched since that position, or nothing where that is too long ago. */
  since(position: string): readonly Touch[] | undefined;
  subscribe(touched: (touch: Touch) => void): () => void;
  /** What memory no longer holds: a session that has ended, an event. */
  session(id: string): Session | undefined;
  event(id: string): EventRow | undefined;
  stop(): void;
}

const MOST_KEPT = 10_000;
// Nobody comes back after this to go on where they were; meanwhile it costs something for each change.
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

export function openChangeHub(store: Store, clock: Clock): ChangeHub {
  let n = 0;
  /** All touches after this number are still known. */
  let floor = 0;
  let isOn = false;
  let cancelOff = (): void => {};
  const subscribers = new Set<(touch: Touch) => void>();
  const touches = boundedMap<Touch>(MOST_KEPT, (old) => {
    floor = old.n;
  });
  const ended = boundedMap<Session>(MOST_KEPT);
  const events = boundedMap<EventRow>(MOST_KEPT);

  function touch(table: ChangeTable, id: string | undefined): void {
    if (!isOn || id === undefined) return;
    n += 1;
    const made = { n, table, id };
    touches.set(`${table} ${id}`, made);
    for (const touched of subscribers) touched(made);
  }

  function heard(change: Change): void {
    if (!isOn || !('append' in change)) return;
    if (change.append === 'ended') {
      ended.set(change.row.id, change.row);
      touch('sessions', change.row.id);
    }
    if (change.append === 'events') {
      events.set(change.row.id, change.row);
      touch('events', change.row.id);
    }
  }

  function turnOff(): void {
    isOn = false;
    n += 1;
    floor = n;
    for (const { map } of [touches, ended, events]) map.clear();
  }

  // The phase of a worker follows from its agent and sessions, the figures of a pool from both.
  const stops = [
    store.onChange('pools', (_after, _before, id) => touch('pools', id)),
    store.onChange('sources', (_after, _before, id) => touch('sources', id)),
    store.onChange('freezes', (_after, _before, id) => {
      if (!isOn) return;
      for (const pool of id === FLEET ? store.view.pools.all() : [store.view.pools.get(id)]) touch('pools', pool?.id);
    }),
    store.onChange('workers', (after, before, id) => {
      touch('workers', id);
      touch('pools', (after ?? before)?.pool);
    }),
    store.onChange('agents', (after, before, id) => {
      touch('workers', id);
      touch('pools', (after ?? before)?.pool);
      if (isOn && !(after && before))
        for (const { id: session } of store.view.sessions.by('worker', id)) touch('sessions', session);
    }),
    store.onChange('sessions', (after, before, id) => {
      touch('sessions', id);
      touch('pools', (after ?? before)?.pool);
      if (after?.worker !== before?.worker) {
        touch('workers', before?.worker);
        touch('workers', after?.worker);
      }
    }),
    store.onDurable((changes) => {
      if (isOn) for (const change of changes) heard(change);
    }),
  ];

  return {
    position: (at = n) => `${store.epoch}-${at}`,
    since(position) {
      const [epoch, at] = position.split('-').map(Number);
      if (!isOn || epoch !== store.epoch || at === undefined || !(at >= floor && at <= n)) return undefined;
      return [...touches.map.values()].filter((made) => made.n > at);
    },
    subscribe(touched) {
      cancelOff();
      isOn = true;
      subscribers.add(touched);
      return () => {
        if (!subscribers.delete(touched) || subscribers.size > 0) return;
        cancelOff = clock.alarm(KEEP_FOR_MS, turnOff);
      };
    },
    session: (id) => ended.map.get(id),
    event: (id) => events.map.get(id),
    stop() {
      cancelOff();
      for (const stop of stops) stop();
    },
  };
}

export function isChangeTable(text: string): text is ChangeTable {
  return CHANGE_TABLES.some((table) => table === text);
}

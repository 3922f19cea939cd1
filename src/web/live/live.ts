import { batch, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { HttpProblem } from '../../api/wire/problem.ts';
import { openChanges } from './changes.ts';
import type { BrowserClock } from './clock.ts';
import { type Connection, openConnection } from './connection.ts';
import { type Ask, type Fetch, openRequests } from './request.ts';
import type { StreamMessage } from './stream.ts';

/** The last answer to a path, and what went wrong since. */
export interface Asked<T> {
  readonly value?: T;
  readonly problem?: HttpProblem;
  readonly isAsking: boolean;
}

/** Some rows of one table that a part of the page shows. */
export interface Followed {
  readonly table: string;
  /** As they are in the stream of changes. */
  readonly ids: readonly string[];
  /** The row as it is now; undefined: it is gone. */
  changed(id: string, row: unknown): void;
  /** Changes were missed: list again. */
  reset(): void;
}

/** The data of the page: answers by path, and rows that follow the server while they are on the screen. */
export interface Live {
  readonly connection: Connection;
  readonly clock: BrowserClock;
  readonly fetch: Fetch;
  readonly isVisible: () => boolean;
  readonly onVisible: (changed: () => void) => () => void;
  readonly ask: Ask;
  /** The last answer to that path. */
  known<T>(path: string): ReadonlySignal<Asked<T>>;
  /** Asks again. Of several requests for one path the last one counts. */
  refresh<T>(path: string): Promise<Asked<T>>;
  /** Puts what is known better, such as a row that has changed. */
  put<T>(path: string, value: T): void;
  follow(followed: Followed): () => void;
  start(): void;
  stop(): void;
}

export interface LiveDeps {
  readonly fetch: Fetch;
  readonly clock: BrowserClock;
  readonly isVisible: () => boolean;
  readonly onVisible: (changed: () => void) => () => void;
}

const APPLY_EVERY_MS = 250;
const MOST_IDS = 200;
const MOST_KNOWN = 200;

/** The stream of what is followed. Without rows it only tells that the server is there. */
export function streamPath(followed: Iterable<Followed>): string {
  const all = [...followed].filter(({ ids }) => ids.length > 0);
  const tables = [...new Set(all.map(({ table }) => table))].toSorted();
  const ids = [...new Set(all.flatMap((one) => one.ids))].slice(0, MOST_IDS).toSorted();
  const query = { tables: tables.join(',') || 'pools', ids: ids.join(',') || '-' };
  return `/changes?${new URLSearchParams(query)}`;
}

export function openLive({ fetch, clock, isVisible, onVisible }: LiveDeps): Live {
  const connection = openConnection(clock);
  const ask = openRequests(fetch, connection);
  const answers = new Map<string, Signal<Asked<unknown>>>();
  const turns = new Map<string, number>();
  const followers = new Set<Followed>();
  const pending = new Map<string, { readonly table: string; readonly id: string; readonly row?: unknown }>();
  let cancelApply: (() => void) | undefined;

  function signalOf(path: string): Signal<Asked<unknown>> {
    const found = answers.get(path) ?? signal<Asked<unknown>>({ isAsking: false });
    answers.delete(path);
    answers.set(path, found);
    for (const [oldest] of answers) {
      if (answers.size <= MOST_KNOWN) break;
      answers.delete(oldest);
      turns.delete(oldest);
    }
    return found;
  }

  async function refresh<T>(path: string): Promise<Asked<T>> {
    const known = signalOf(path);
    const turn = (turns.get(path) ?? 0) + 1;
    turns.set(path, turn);
    known.value = { ...known.value, isAsking: true };
    const { value, problem } = await ask<T>(path);
    if (turns.get(path) !== turn) return known.value as Asked<T>;
    // What is on the page stays there when the server is away.
    known.value = problem ? { value: known.value.value, problem, isAsking: false } : { value, isAsking: false };
    return known.value as Asked<T>;
  }

  function apply(): void {
    cancelApply = undefined;
    const changes = [...pending.values()];
    pending.clear();
    batch(() => {
      for (const { table, id, row } of changes)
        for (const follower of followers)
          if (follower.table === table && follower.ids.includes(id)) follower.changed(id, row);
    });
  }

  function receive(message: StreamMessage): void {
    if (message.kind === 'reset') {
      pending.clear();
      for (const follower of followers) follower.reset();
    }
    if (message.kind !== 'change') return;
    pending.set(`${message.change.table} ${message.change.id}`, message.change);
    cancelApply ??= clock.after(APPLY_EVERY_MS, apply);
  }

  const changes = openChanges({
    ...{ fetch, clock, isVisible, onVisible, connection, receive },
    path: () => streamPath(followers),
  });

  return {
    connection,
    clock,
    fetch,
    isVisible,
    onVisible,
    ask,
    refresh,
    known: <T>(path: string) => signalOf(path) as unknown as ReadonlySignal<Asked<T>>,
    put(path, value) {
      signalOf(path).value = { value, isAsking: false };
    },
    follow(followed) {
      followers.add(followed);
      changes.reopen();
      return () => {
        if (followers.delete(followed)) changes.reopen();
      };
    },
    start: changes.start,
    stop() {
      changes.stop();
      cancelApply?.();
    },
  };
}

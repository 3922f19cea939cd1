import type { OutputChunk } from '#core/session.ts';
import type { Change, Store } from '#core/store.ts';
import { type Finder, stopping } from './find.ts';
import { openOutputPages } from './output-pages.ts';
import { findTail, type TailPlace } from './output-tail.ts';
import type { OutputOptions } from './sessions.ts';

const MOST_BUFFERED_CHUNKS = 256;
const MOST_BUFFERED_BYTES = 2 ** 20;

/** Output that became durable since a reader last looked. Beyond its bound it is dropped, and the reader reads the history. */
interface Tap {
  chunks: OutputChunk[];
  bytes: number;
  isBehind: boolean;
  /** The last attempt of the session, once it has ended. */
  endedAttempt: number | undefined;
  wake: () => void;
}

/** One reader and its position. */
interface Reader {
  readonly id: string;
  readonly tap: Tap;
  readonly signal: AbortSignal;
  attempt: number;
  seq: number;
  /** Where its tail begins, if it asked for one. */
  tail?: TailPlace;
}

export interface Follower {
  output(id: string, options: OutputOptions, signal: AbortSignal): AsyncIterable<OutputChunk>;
  stop(): void;
}

export function openFollower(store: Store, finder: Finder): Follower {
  const taps = new Map<string, Set<Tap>>();
  const pages = openOutputPages(store);
  let isStopping = false;
  const unsubscribe = store.onDurable((changes) => {
    if (taps.size > 0) for (const change of changes) fill(change);
  });

  function fill(change: Change): void {
    if (!('append' in change)) return;
    if (change.append === 'output') {
      for (const tap of taps.get(change.row.session) ?? []) pour(tap, change.row);
    } else if (change.append === 'ended') {
      for (const tap of taps.get(change.row.id) ?? []) {
        tap.endedAttempt = change.row.attempt;
        tap.wake();
      }
    }
  }

  function openTap(id: string): { tap: Tap; close: () => void } {
    const tap: Tap = { chunks: [], bytes: 0, isBehind: false, endedAttempt: undefined, wake: () => {} };
    const all = taps.get(id) ?? new Set();
    taps.set(id, all.add(tap));
    const close = (): void => {
      if (all.delete(tap) && all.size === 0) taps.delete(id);
    };
    return { tap, close };
  }

  /** All durable output after the reader's position. */
  async function* fromHistory(reader: Reader): AsyncGenerator<OutputChunk> {
    const { id, tap, signal } = reader;
    // An attempt is placed only after all output of earlier attempts was committed: wait for that, or the reader would skip it.
    const current = store.view.sessions.get(id)?.attempt;
    await store.durable();
    const newest = current ?? tap.endedAttempt ?? 0;
    while (reader.attempt <= newest && !signal.aborted) {
      const chunk = await pages.next({ session: id, attempt: reader.attempt, afterSeq: reader.seq });
      if (chunk) {
        reader.seq = chunk.seq;
        yield cutChunk(chunk, reader.tail);
        continue;
      }
      if (reader.attempt === newest) return;
      reader.attempt += 1;
      reader.seq = 0;
    }
  }

  /** Output that becomes durable from now on, until the reader is behind or the session has ended. */
  async function* live(reader: Reader): AsyncGenerator<OutputChunk> {
    const { tap } = reader;
    while (!tap.isBehind) {
      const chunk = take(tap);
      if (chunk && isPast(chunk, reader)) {
        reader.attempt = chunk.attempt;
        reader.seq = chunk.seq;
        yield chunk;
      }
      if (chunk) continue;
      if (isOver(reader)) return;
      await changed(reader);
    }
  }

  const isOver = ({ tap, signal }: Reader): boolean => tap.endedAttempt !== undefined || signal.aborted || isStopping;

  async function begin(reader: Reader, { tailLines }: OutputOptions): Promise<void> {
    const session = await finder.get(reader.id);
    if (session.end) reader.tap.endedAttempt = session.attempt;
    if (tailLines === undefined) return;
    const tail = await findTail(store, session, tailLines);
    Object.assign(reader, { attempt: tail.attempt, seq: tail.afterSeq, tail });
  }

  async function* output(id: string, options: OutputOptions, signal: AbortSignal): AsyncGenerator<OutputChunk> {
    // Subscribe before reading, or output that becomes durable in between would be missed.
    const { tap, close } = openTap(id);
    const reader: Reader = { id, tap, signal, attempt: options.attempt ?? 1, seq: options.afterSeq ?? 0 };
    try {
      await begin(reader, options);
      do {
        tap.isBehind = false;
        yield* fromHistory(reader);
        if (options.follow) yield* live(reader);
      } while (tap.isBehind && options.follow && !signal.aborted);
      if (isStopping && options.follow && tap.endedAttempt === undefined) throw stopping();
    } finally {
      close();
    }
  }

  return {
    output,
    stop() {
      isStopping = true;
      unsubscribe();
      for (const all of taps.values()) for (const tap of all) tap.wake();
    },
  };
}

/** The first chunk of a tail begins within a line that is not part of it. */
function cutChunk(chunk: OutputChunk, tail: TailPlace | undefined): OutputChunk {
  const isFirst = chunk.attempt === tail?.attempt && chunk.seq === tail.afterSeq + 1;
  return isFirst && tail.skipBytes > 0 ? { ...chunk, data: chunk.data.subarray(tail.skipBytes) } : chunk;
}

/** One at a time: what a reader has not taken yet counts against its bound. */
function take(tap: Tap): OutputChunk | undefined {
  const chunk = tap.chunks.shift();
  tap.bytes -= chunk?.data.length ?? 0;
  return chunk;
}

function pour(tap: Tap, chunk: OutputChunk): void {
  if (tap.isBehind) return;
  tap.chunks.push(chunk);
  tap.bytes += chunk.data.length;
  if (tap.chunks.length > MOST_BUFFERED_CHUNKS || tap.bytes > MOST_BUFFERED_BYTES) {
    tap.isBehind = true;
    tap.chunks = [];
    tap.bytes = 0;
  }
  tap.wake();
}

const isPast = (chunk: OutputChunk, { attempt, seq }: Reader): boolean =>
  chunk.attempt > attempt || (chunk.attempt === attempt && chunk.seq > seq);

function changed({ tap, signal }: Reader): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      signal.removeEventListener('abort', done);
      tap.wake = () => {};
      resolve();
    };
    tap.wake = done;
    signal.addEventListener('abort', done, { once: true });
  });
}

// The contents of files of sessions: the server has them, and the agent keeps the small ones for sessions that follow.
import { hash } from 'node:crypto';
import { constants, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, HOUR_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { isNearlyFull } from './ended-places.ts';
import type { RunRecord } from './folder.ts';

/** A piece of the contents that were asked for, one after the other. */
export interface ContentPiece {
  readonly data: Uint8Array;
  /** The content ends with it. */
  readonly isLast: boolean;
}

/** Contents of a placed session, by their numbers in its manifest; without numbers the manifest itself. */
export type FetchContents = (
  session: string,
  attempt: number,
  numbers: readonly number[],
) => AsyncIterable<ContentPiece>;

/** A content that a session needs. */
export interface WantedContent {
  /** Its number in the manifest. */
  readonly number: number;
  readonly hash: string;
  readonly bytes: number;
}

type RunKey = Pick<RunRecord, 'session' | 'attempt'>;

export interface SessionContents {
  /** All of them in this order, from here or from the server. The caller checks their hashes before it asks for more. */
  get(run: RunKey, wanted: readonly WantedContent[]): AsyncIterable<ContentPiece>;
  /** Removes what is kept. */
  close(): void;
}

export interface SessionContentsOptions {
  readonly workDir: string;
  readonly fetchContents: FetchContents;
  readonly clock: Clock;
  readonly mostKeptBytes?: number;
  /** The part of the disk that is free, from 0 to 1. */
  freePart?(path: string): number;
}

// A large file comes as fast as the network; of small ones each costs more than its bytes.
const LARGEST_KEPT_BYTES = 1024 * 1024;
const MOST_KEPT_BYTES = 512 * 1000 ** 2;
const UNUSED_MS = HOUR_MS;
// What is here is read without a pause; others must have their turn.
const READ_IN_ONE_TURN = 50;

const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Keeps contents in a directory, the longest unused go first; those that a session has changed count as absent. */
function openKept(path: string, clock: Clock, mostBytes: number) {
  // By hash, the last used last.
  const kept = new Map<string, number>();
  let total = 0;
  let cancel = (): void => {};
  const pathOf = (hash: string): string => join(path, hash);

  function drop(hash: string): void {
    total -= kept.get(hash) ?? 0;
    kept.delete(hash);
    rmSync(pathOf(hash), { force: true });
  }

  function clear(): void {
    cancel();
    kept.clear();
    total = 0;
    rmSync(path, { recursive: true, force: true });
  }

  return {
    clear,
    /** Nobody may need them again: they go when they were not used for an hour. */
    noteUse(): void {
      cancel();
      cancel = clock.alarm(UNUSED_MS, clear);
    },
    has: (hash: string): boolean => kept.has(hash),
    read(name: string): Uint8Array | undefined {
      try {
        const bytes = readFileSync(pathOf(name), { flag: READ });
        if (hash('sha256', bytes, 'hex') === name) {
          kept.delete(name);
          kept.set(name, bytes.length);
          return bytes;
        }
      } catch {
        // Sessions may have the rights of the agent, and remove what they find.
      }
      drop(name);
      return undefined;
    },
    keep(hash: string, bytes: Uint8Array): void {
      if (kept.has(hash)) return;
      try {
        mkdirSync(path, { recursive: true, mode: 0o700 });
        writeFileSync(pathOf(hash), bytes, { flag: 'wx', mode: 0o600 });
      } catch {
        // The disk is full, or a session has put something there: then it comes from the server next time too.
        return;
      }
      kept.set(hash, bytes.length);
      total += bytes.length;
      for (const oldest of kept.keys()) if (total > mostBytes) drop(oldest);
    },
  };
}

/** What an earlier process has kept is removed. */
export function openSessionContents(options: SessionContentsOptions): SessionContents {
  const { workDir, fetchContents, clock, freePart } = options;
  const kept = openKept(join(workDir, 'contents'), clock, options.mostKeptBytes ?? MOST_KEPT_BYTES);
  kept.clear();

  /** The pieces of one content; those of a small one are kept once the caller has taken them all. */
  async function* takeOne(pieces: AsyncIterator<ContentPiece>, { hash, bytes }: WantedContent) {
    const seen: Uint8Array[] = [];
    for (;;) {
      const { value, done } = await pieces.next();
      if (done) throw new Fault('unavailable', 'The server sent too few files.');
      if (bytes <= LARGEST_KEPT_BYTES) seen.push(value.data);
      yield value;
      if (value.isLast) break;
    }
    if (bytes <= LARGEST_KEPT_BYTES) kept.keep(hash, Buffer.concat(seen));
  }

  /** One content: what is here was good when it was kept, and may have been changed since. */
  async function* readOne(run: RunKey, content: WantedContent): AsyncGenerator<ContentPiece> {
    const data = kept.read(content.hash);
    if (data) yield { data, isLast: true };
    else yield* takeOne(fetchContents(run.session, run.attempt, [content.number])[Symbol.asyncIterator](), content);
  }

  return {
    close: kept.clear,
    async *get(run, wanted) {
      if (isNearlyFull(workDir, freePart)) kept.clear();
      kept.noteUse();
      // Asked for at once: the server reads ahead.
      const absent = new Set(wanted.filter(({ hash }) => !kept.has(hash)));
      const numbers = [...absent].map(({ number }) => number);
      const fetched = absent.size > 0 && fetchContents(run.session, run.attempt, numbers)[Symbol.asyncIterator]();
      try {
        for (const [n, content] of wanted.entries()) {
          if (n % READ_IN_ONE_TURN === 0) await new Promise<void>((resolve) => clock.soon(resolve));
          yield* fetched && absent.has(content) ? takeOne(fetched, content) : readOne(run, content);
        }
      } finally {
        if (fetched) await fetched.return?.();
      }
    },
  };
}

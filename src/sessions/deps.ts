import type { AgentLink } from '#core/agent-link.ts';
import type { Clock } from '#core/clock.ts';
import type { Files } from '#core/file.ts';
import type { Log } from '#core/log.ts';
import type { Pool } from '#core/pool.ts';
import type { Random } from '#core/random.ts';
import type { Change, Store } from '#core/store.ts';
import type { Journal } from '#journal/journal.ts';

export interface SessionLimits {
  /** Output kept of one session, all attempts together; a notice marks where it was cut. */
  readonly outputBytes: number;
  /** Largest piece of output that is kept whole. */
  readonly chunkBytes: number;
  /** Sessions that may wait in one pool. */
  readonly queueLength: number;
  /** Command, environment, labels and directory of one session together. */
  readonly specBytes: number;
}

export const DEFAULT_LIMITS: SessionLimits = {
  outputBytes: 64 * 2 ** 20,
  chunkBytes: 64 * 2 ** 10,
  queueLength: 100_000,
  specBytes: 512 * 2 ** 10,
};

export interface SessionsDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly journal: Pick<Journal, 'event'>;
  readonly link: AgentLink;
  readonly files: Pick<Files, 'hold'>;
  /** Whether workers of this pool see the same files as the server, as the same user; absent: none do. */
  seesOurFiles?(pool: Pool): boolean;
  /** Limits that are left out have their default. */
  readonly limits?: Partial<SessionLimits> | undefined;
  /** All sessions that this agent runs and that the server does not know. */
  noteUnknown?(agent: string, sessions: readonly string[]): void;
}

type SessionsBase = Pick<SessionsDeps, 'store' | 'log'>;

/** Commits, and runs `then` when durable. A failed commit ends the process, so it runs nothing. */
export function commitThen(ground: SessionsBase, changes: readonly Change[], then?: () => void): void {
  const durable = ground.store.commit(changes);
  if (then) runWhen(durable, ground, then);
}

/** Runs `then` when all that memory holds now is durable: a message to an agent may depend on any of it. */
export function whenDurable(ground: SessionsBase, then: () => void): void {
  runWhen(ground.store.durable(), ground, then);
}

// By the promise of a transaction, which all its commits share: one callback for all of them.
const waiting = new WeakMap<Promise<void>, (() => void)[]>();

function runWhen(durable: Promise<void>, ground: SessionsBase, then: () => void): void {
  const others = waiting.get(durable);
  if (others) return void others.push(then);
  const all = [then];
  waiting.set(durable, all);
  durable.then(
    () => {
      // What one of them asks for now has no batch to wait for.
      waiting.delete(durable);
      for (const run of all) guarded(ground, run);
    },
    () => {},
  );
}

function guarded({ log }: SessionsBase, run: () => void): void {
  try {
    run();
  } catch (thrown) {
    log('error', 'action after a commit failed', { error: String(thrown), stack: (thrown as Error)?.stack });
  }
}

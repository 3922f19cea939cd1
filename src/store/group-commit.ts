import { Fault } from '#core/fault.ts';
import type { Change } from '#core/store.ts';

interface Batch {
  readonly changes: Change[];
  readonly done: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (fault: Fault) => void;
}

/** A promise that callers may ignore: a failed write ends the process through `fatal`, not through each caller. */
function unheard<P extends Promise<unknown>>(promise: P): P {
  promise.catch(() => {});
  return promise;
}

function newBatch(): Batch {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  return { changes: [], done: unheard(promise), resolve, reject };
}

export interface GroupCommit {
  /** Writing has failed or was closed: nothing may be added. */
  isOver(): boolean;
  /** The answer to a commit after that. */
  refused(): Promise<never>;
  /** Puts a change behind all others. */
  add(change: Change): void;
  /** Resolves when everything added so far is durable: one promise for all that share a transaction. */
  durable(): Promise<void>;
  /** Rejects all waiting commits and calls `fatal`, once. */
  fail(thrown: unknown): void;
  /** Accepts no more changes; resolves when the added ones are durable or refused. */
  close(): Promise<void>;
}

export interface GroupCommitOptions {
  /** Awaited before the changes of a transaction are taken; undefined: they are taken at once. */
  gather(): Promise<void> | undefined;
  /** One transaction; resolves when durable. */
  write(changes: readonly Change[]): Promise<void>;
  durable(changes: readonly Change[]): void;
  fatal(fault: Fault): void;
}

/** One transaction at a time; whatever is added meanwhile becomes the next one, in the order of adding. */
export function groupCommit(options: GroupCommitOptions): GroupCommit {
  let current: Batch | undefined;
  let next: Batch | undefined;
  let isWriting = false;
  let broken: Fault | undefined;
  let closed: Fault | undefined;

  async function writeAll(): Promise<void> {
    while (next && !broken) {
      const gathered = options.gather();
      if (gathered !== undefined) await gathered;
      // A change may have failed meanwhile.
      if (broken) return;
      current = next;
      next = undefined;
      await options.write(current.changes);
      if (broken) return;
      current.resolve();
      options.durable(current.changes);
    }
    current = undefined;
    isWriting = false;
  }

  function fail(thrown: unknown): void {
    if (broken) return;
    const cause = Fault.from(thrown);
    broken = new Fault('unavailable', `The store can no longer write: ${cause.message}`, {
      cause,
      // What its own kind would advise is for a caller who may try again.
      ...(cause.kind === 'internal' ? {} : { remedy: cause.remedy }),
    });
    current?.reject(broken);
    next?.reject(broken);
    options.fatal(broken);
  }

  function durable(): Promise<void> {
    if (broken) return unheard(Promise.reject(broken));
    return (next ?? current)?.done ?? Promise.resolve();
  }

  return {
    isOver: () => broken !== undefined || closed !== undefined,
    refused: () => unheard(Promise.reject(broken ?? closed)),
    add(change) {
      next ??= newBatch();
      next.changes.push(change);
      if (isWriting) return;
      isWriting = true;
      // Not at once: all that one turn of the program commits belongs together.
      queueMicrotask(() => void writeAll().catch(fail));
    },
    durable,
    fail,
    async close() {
      closed = new Fault('unavailable', 'The store is closed.');
      await durable().catch(() => {});
    },
  };
}

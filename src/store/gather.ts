import type { Clock } from '#core/clock.ts';

/** Changes of callers, who mostly come again when they were answered. */
export interface LastTransaction {
  readonly changes: number;
  /** How many waited when it ended. */
  readonly waiting: number;
}

/** Says when a transaction should begin. */
export interface Gather {
  /** Resolves when it should. */
  begin(last: LastTransaction): Promise<void>;
  /** So many changes of callers wait for it by now. */
  waiting(count: number): void;
}

// A transaction costs both threads as much as some ten rows: those of three or more callers are worth a millisecond.
const CROWD = 3;
// The least that a timer waits. A transaction takes longer on most disks.
const MOST_MS = 1;

/**
 * What the sockets have brought by now shares a transaction. Where the last one had many changes of callers, those
 * whom it answered mostly come again at once. They are waited for, whatever waits already: otherwise there would be two groups for good,
 * of which one always waits for the transaction of the other, and twice as many transactions.
 */
export function openGather(clock: Pick<Clock, 'soon' | 'alarm'>): Gather {
  let count = 0;
  let wanted = 0;
  let isFull: (() => void) | undefined;

  return {
    begin(last) {
      wanted = last.changes + last.waiting;
      // All have come again already: others would only wait.
      if (last.changes > 0 && count >= wanted) return Promise.resolve();
      return new Promise((resolve) => {
        clock.soon(() => {
          if (last.changes < CROWD || count >= wanted) return resolve();
          const cancel = clock.alarm(MOST_MS, () => {
            isFull = undefined;
            resolve();
          });
          isFull = () => {
            isFull = undefined;
            cancel();
            // The sockets that are read in this turn still belong to it.
            clock.soon(resolve);
          };
        });
      });
    },
    waiting(now) {
      count = now;
      if (count >= wanted) isFull?.();
    },
  };
}

import type { Clock } from '#core/clock.ts';

/** Rows that callers made or ended; they mostly come again when they were answered. */
export interface LastTransaction {
  readonly rows: number;
  /** How many waited when it ended. */
  readonly waiting: number;
}

/** Says when a transaction should begin. */
export interface Gather {
  /** Resolves when it should. */
  begin(last: LastTransaction): Promise<void>;
  /** So many rows of callers wait for it by now. */
  waiting(count: number): void;
  /** A caller has sent its next request so long after its last answer. */
  cameAgain(afterMs: number): void;
}

// A transaction costs both threads as much as some ten rows: those of three or more callers are worth a millisecond.
const CROWD = 3;
// The least that a timer waits. A transaction takes longer on most disks.
const LOOK_EVERY_MS = 1;
// While more of them come, up to here: measured with ten callers, a fifth less processor time and shorter waits too.
const MOST_MS = 6;
// Of so many rows, the cost of their transaction is a small part.
const ENOUGH = 100;
const AT_ONCE_MS = 10;
// Of the last so many requests: callers who come at their own pace are not waited for any longer.
const REMEMBERED = 32;
const MOSTLY = 0.5;

/**
 * What the sockets have brought by now shares a transaction. Where callers made or ended many rows in the last one, those
 * whom it answered mostly come again at once. They are waited for, whatever waits already: otherwise there would be two
 * groups for good, of which one always waits for the transaction of the other, and twice as many transactions.
 */
export function openGather(clock: Pick<Clock, 'soon' | 'alarm' | 'monotonic'>): Gather {
  let count = 0;
  let wanted = 0;
  let shareAtOnce = 0;
  let isFull: (() => void) | undefined;

  function waitForThem(begin: () => void): void {
    const endMs = clock.monotonic() + MOST_MS;
    let counted = count;
    let cancel = clock.alarm(LOOK_EVERY_MS, look);

    function look(): void {
      const areComing = shareAtOnce >= MOSTLY && count > counted && count < ENOUGH;
      if (areComing && clock.monotonic() < endMs) {
        counted = count;
        cancel = clock.alarm(LOOK_EVERY_MS, look);
        return;
      }
      isFull = undefined;
      begin();
    }

    isFull = () => {
      isFull = undefined;
      cancel();
      // The sockets that are read in this turn still belong to it.
      clock.soon(begin);
    };
  }

  return {
    begin(last) {
      wanted = last.rows + last.waiting;
      // All have come again already: others would only wait.
      if (last.rows > 0 && count >= wanted) return Promise.resolve();
      return new Promise((resolve) => {
        clock.soon(() => {
          if (last.rows < CROWD || count >= wanted) resolve();
          else waitForThem(resolve);
        });
      });
    },
    waiting(now) {
      count = now;
      if (count >= wanted) isFull?.();
    },
    cameAgain(afterMs) {
      shareAtOnce += ((afterMs < AT_ONCE_MS ? 1 : 0) - shareAtOnce) / REMEMBERED;
    },
  };
}

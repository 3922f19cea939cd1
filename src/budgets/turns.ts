// When a budget has room again, or its month is spent: who it holds must look again.

import { type Clock, HOUR_MS, SECOND_MS } from '#core/clock.ts';
import type { Change, Store } from '#core/store.ts';
import type { CostLedger } from './ledger.ts';
import { type Notices, nextNoticeMs } from './notices.ts';
import { isSpent } from './room.ts';
import type { Tally } from './tally.ts';

// Machines end by the hundred: those that a budget holds look again once.
const GATHER_MS = SECOND_MS;
// The wall clock may be set: an alarm that runs on the other one must not be late for ever.
const LONGEST_WAIT_MS = HOUR_MS;

export interface BudgetTurns {
  /** These sums have changed. */
  touch(tallies: readonly Tally[]): void;
  /** All of them may have room. */
  released(): void;
  stop(): void;
}

export interface BudgetTurnsDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly ledger: () => CostLedger;
  readonly notices: Notices;
  turned(tally: Tally, turn: 'room' | 'spent'): void;
}

interface Known {
  readonly priceNano: number;
  readonly isSpent: boolean;
  readonly monthMs: number;
}

export function openBudgetTurns({ store, clock, ledger, notices, turned }: BudgetTurnsDeps): BudgetTurns {
  const known = new Map<string, Known>();
  const released = new Set<string>();
  let cancelAlarm = (): void => {};
  let cancelGathered: (() => void) | undefined;
  let isDue = false;
  let isStopped = false;

  /** Never within a commit: it may commit itself. */
  function lookSoon(): void {
    if (isDue || isStopped) return;
    isDue = true;
    clock.soon(() => {
      isDue = false;
      if (!isStopped) look();
    });
  }

  function look(): void {
    const changes: Change[] = [];
    let nextMs = Number.POSITIVE_INFINITY;
    for (const tally of ledger().tallies.values()) {
      ledger().now(tally);
      const { name } = tally.budget;
      const before = known.get(name);
      const now = { priceNano: tally.sum.priceNano, isSpent: isSpent(tally), monthMs: tally.monthMs };
      known.set(name, now);
      if (now.isSpent && !before?.isSpent) turned(tally, 'spent');
      if (before && hasMoreRoom(now, before)) release(name);
      changes.push(...notices.due(tally));
      nextMs = Math.min(nextMs, nextNoticeMs(tally));
    }
    if (changes.length > 0) store.commit(changes).catch(() => {});
    cancelAlarm();
    cancelAlarm = clock.alarm(Math.min(LONGEST_WAIT_MS, Math.max(1, nextMs - clock.now())), lookSoon);
  }

  function release(name: string): void {
    released.add(name);
    cancelGathered ??= clock.alarm(GATHER_MS, () => {
      cancelGathered = undefined;
      const names = [...released];
      released.clear();
      for (const each of names) {
        const tally = ledger().tallies.get(each);
        if (tally) turned(tally, 'room');
      }
    });
  }

  return {
    touch: lookSoon,
    released() {
      for (const name of ledger().tallies.keys()) release(name);
      lookSoon();
    },
    stop() {
      isStopped = true;
      cancelAlarm();
      cancelGathered?.();
    },
  };
}

const hasMoreRoom = (now: Known, before: Known): boolean =>
  now.priceNano < before.priceNano || now.monthMs > before.monthMs || (before.isSpent && !now.isSpent);

import { formatDuration } from '#core/duration.ts';
import type { Facts, WorkerFact } from './facts.ts';
import { bookRemoval, type Ledger, lookAgainAt } from './ledger.ts';

interface Limit {
  readonly afterMs: number;
  readonly setting: string;
}

const NEVER: Limit = { afterMs: Number.POSITIVE_INFINITY, setting: '' };

/** How long a worker may stay in its phase. Work on a lost one may still be running, so it is never given up by time. */
function limitOf(facts: Facts, worker: WorkerFact): Limit {
  const { scaling, lostAfterMs } = facts;
  const killUnknown =
    scaling.killUnknownAfterMs > 0 ? { afterMs: scaling.killUnknownAfterMs, setting: 'kill_unknown_after' } : NEVER;
  switch (worker.phase) {
    case 'launching':
    case 'booting':
      return facts.isReady ? { afterMs: scaling.bootTimeoutMs, setting: 'boot_timeout' } : NEVER;
    case 'unknown':
      return killUnknown;
    case 'lost': {
      if (worker.freeSlots < worker.slots) return NEVER;
      const lost = lostAfterMs === undefined ? NEVER : { afterMs: lostAfterMs, setting: 'the time for its return' };
      return lost.afterMs < killUnknown.afterMs ? lost : killUnknown;
    }
    default:
      return NEVER;
  }
}

const DONE: Partial<Record<WorkerFact['phase'], string>> = {
  launching: 'did not join within',
  booting: 'did not join within',
  unknown: 'stayed unknown for',
  lost: 'stayed lost for',
};

/** Removes what outstayed its limit, and asks to look again when the next one may have. */
export function removeOverdue(facts: Facts, ledger: Ledger): void {
  const counts = new Map<string, number>();
  for (const worker of facts.workers) {
    const done = DONE[worker.phase];
    if (done === undefined) continue;
    const { afterMs, setting } = limitOf(facts, worker);
    if (afterMs === Number.POSITIVE_INFINITY) continue;
    if (facts.nowMs - worker.sinceMs < afterMs) {
      lookAgainAt(ledger, worker.sinceMs + afterMs);
      continue;
    }
    const why = `${done} ${setting} ${formatDuration(afterMs)}`;
    bookRemoval(ledger, worker, { why: `it ${why}`, isOverdue: true });
    counts.set(why, (counts.get(why) ?? 0) + 1);
  }
  for (const [why, count] of counts) ledger.notes.push(`${count} ${why}: removing ${count === 1 ? 'it' : 'them'}`);
}

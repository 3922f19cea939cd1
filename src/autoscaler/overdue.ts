import { formatDuration } from '#core/duration.ts';
import { addRemoval, type Counts, lookAgainAt } from './counts.ts';
import type { Facts, WorkerFact } from './facts.ts';
import { judge, OVERDUE } from './reasons.ts';

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

/** Whether it has been in its phase for longer than it may. */
export function isOverdue(facts: Facts, worker: WorkerFact): boolean {
  return OVERDUE[worker.phase] !== undefined && facts.nowMs - worker.sinceMs >= limitOf(facts, worker).afterMs;
}

/** Removes what outstayed its limit, and asks to look again when the next one may have. */
export function removeOverdue(facts: Facts, counts: Counts): void {
  const causes = { 'boot-timeout': 0, 'unknown-timeout': 0, 'lost-timeout': 0 };
  const limits = new Map<string, number>();
  for (const worker of facts.workers) {
    const code = OVERDUE[worker.phase];
    if (code === undefined) continue;
    const { afterMs, setting } = limitOf(facts, worker);
    if (afterMs === Number.POSITIVE_INFINITY) continue;
    if (facts.nowMs - worker.sinceMs < afterMs) {
      lookAgainAt(counts, worker.sinceMs + afterMs);
      continue;
    }
    addRemoval(counts, worker, { why: `it ${DONE[code]} ${setting} ${formatDuration(afterMs)}`, isOverdue: true });
    causes[code] += 1;
    limits.set(code, afterMs);
  }
  // In this order, whatever the order of the workers.
  for (const code of Object.keys(causes) as (keyof typeof causes)[]) {
    const details = { facts, count: causes[code], afterMs: limits.get(code) ?? 0 };
    if (details.count > 0) counts.notes.push(judge(code, details, true));
  }
}

const DONE = {
  'boot-timeout': 'did not join within',
  'unknown-timeout': 'stayed unknown for',
  'lost-timeout': 'stayed lost for',
} as const;

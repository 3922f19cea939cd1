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
  switch (worker.phase) {
    case 'launching':
    case 'booting':
      return facts.isReady ? { afterMs: facts.scaling.bootTimeoutMs, setting: 'boot_timeout' } : NEVER;
    case 'unknown':
      return killUnknown(facts);
    case 'lost': {
      if (worker.freeSlots < worker.slots) return NEVER;
      const { lostAfterMs = Number.POSITIVE_INFINITY } = facts;
      const kill = killUnknown(facts);
      return lostAfterMs < kill.afterMs ? { afterMs: lostAfterMs, setting: 'the time allowed for a reconnect' } : kill;
    }
    default:
      return NEVER;
  }
}

const killUnknown = ({ scaling }: Facts): Limit =>
  scaling.killUnknownAfterMs > 0 ? { afterMs: scaling.killUnknownAfterMs, setting: 'kill_unknown_after' } : NEVER;

/** Whether it has been in its phase for longer than it may. */
export function isOverdue(facts: Facts, worker: WorkerFact): boolean {
  return OVERDUE[worker.phase] !== undefined && facts.nowMs - worker.sinceMs >= limitOf(facts, worker).afterMs;
}

/** Removes what outstayed its limit, and asks to look again when the next one may have. */
export function removeOverdue(facts: Facts, counts: Counts): void {
  // In this order, whatever the order of the workers. Most often there is none.
  let causes: Record<Cause, { count: number; afterMs: number }> | undefined;
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
    causes ??= noCauses();
    causes[code].count += 1;
    causes[code].afterMs = afterMs;
  }
  if (!causes) return;
  for (const code of Object.keys(causes) as Cause[])
    if (causes[code].count > 0) counts.notes.push(judge(code, { facts, ...causes[code] }, true));
}

type Cause = keyof typeof DONE;

const noCauses = () => ({
  'boot-timeout': { count: 0, afterMs: 0 },
  'unknown-timeout': { count: 0, afterMs: 0 },
  'lost-timeout': { count: 0, afterMs: 0 },
});

const DONE = {
  'boot-timeout': 'did not join within',
  'unknown-timeout': 'stayed unknown for',
  'lost-timeout': 'stayed lost for',
} as const;

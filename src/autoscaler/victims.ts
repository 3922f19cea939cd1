import type { Facts, WorkerFact } from './facts.ts';
import type { Ledger } from './ledger.ts';

export const isComing = ({ phase }: WorkerFact): boolean => phase === 'launching' || phase === 'booting';

export const isFree = ({ slots, freeSlots }: WorkerFact): boolean => freeSlots === slots;

/** A worker goes only where `min_idle`, `min_agents` and the queue hold without it: else it would be launched again. */
export function canGo({ scaling }: Facts, ledger: Ledger, worker: WorkerFact): boolean {
  return ledger.size > scaling.minAgents && ledger.idleSize - worker.freeSlots >= scaling.minIdleSlots;
}

/**
 * Who may go, first to last: those of an older definition; those not yet joined, newest first; then the dearest, and of
 * equals the one that idles longest. Never one with a session.
 */
export function victims(facts: Facts, ledger: Ledger): WorkerFact[] {
  const removed = new Set(ledger.actions.map((action) => (action.do === 'remove' ? action.worker : '')));
  return facts.workers
    .filter((worker) => (isComing(worker) || worker.phase === 'idle') && isFree(worker))
    .filter((worker) => !removed.has(worker.name))
    .sort(before);
}

function before(a: WorkerFact, b: WorkerFact): number {
  const isOld = a.isOutdated === true;
  if (isOld !== (b.isOutdated === true)) return isOld ? -1 : 1;
  const comes = isComing(a);
  if (comes !== isComing(b)) return comes ? -1 : 1;
  const dearer = (b.pricePerHour ?? 0) - (a.pricePerHour ?? 0);
  if (dearer !== 0) return dearer;
  const older = a.sinceMs - b.sinceMs || (a.name < b.name ? -1 : 1);
  return comes ? -older : older;
}

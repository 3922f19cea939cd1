import type { Counts } from './counts.ts';
import type { Facts, WorkerFact } from './facts.ts';

export const isComing = ({ phase }: WorkerFact): boolean => phase === 'launching' || phase === 'booting';

export const isFree = ({ slots, freeSlots }: WorkerFact): boolean => freeSlots === slots;

/** A worker goes only where `min_idle`, `min_agents` and the queue hold without it: else it would be launched again. */
export function canGo({ scaling }: Facts, counts: Counts, worker: WorkerFact): boolean {
  return counts.size > scaling.minAgents && counts.idleSize - worker.freeSlots >= scaling.minIdleSlots;
}

/**
 * Who may go, first to last: those of an older definition; those not yet joined, newest first; then the most expensive,
 * and of equals the one that idles longest. Never one with a session.
 */
export function removalOrder(facts: Facts, counts: Counts): WorkerFact[] {
  const removable = facts.workers.filter(isRemovable);
  if (counts.actions.length === 0) return removable.sort(compareForRemoval);
  const removed = new Set(counts.actions.map((action) => (action.do === 'remove' ? action.worker : '')));
  return removable.filter(({ name }) => !removed.has(name)).sort(compareForRemoval);
}

/** Whether it may go to save money at all. */
export const isRemovable = (worker: WorkerFact): boolean =>
  (isComing(worker) || worker.phase === 'idle') && isFree(worker);

export function compareForRemoval(a: WorkerFact, b: WorkerFact): number {
  const isOld = a.isOutdated === true;
  if (isOld !== (b.isOutdated === true)) return isOld ? -1 : 1;
  const comes = isComing(a);
  if (comes !== isComing(b)) return comes ? -1 : 1;
  const byPrice = (b.pricePerHour ?? 0) - (a.pricePerHour ?? 0);
  if (byPrice !== 0) return byPrice;
  const older = a.sinceMs - b.sinceMs || (a.name < b.name ? -1 : 1);
  return comes ? -older : older;
}

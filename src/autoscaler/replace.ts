// Workers of an older definition make room for those of the current one, as the pool's `update_policy` has it.

import { countedPerHour } from './budget-room.ts';
import { addDrain, addRemoval, type Counts, lookAgainAt } from './counts.ts';
import type { Facts, WorkerFact } from './facts.ts';
import { judge } from './reasons.ts';
import { canGo, isComing, removalOrder } from './removal-order.ts';
import { spread } from './spread.ts';

const WHY = 'it was made from an older definition of the pool';

interface Turnover {
  /** Without sessions: here, or still on their way. */
  readonly free: readonly WorkerFact[];
  readonly busy: readonly WorkerFact[];
  /** On their way out already: finishing their sessions, or being deleted. */
  readonly draining: number;
  readonly deleting: number;
  /** A worker of the current definition has joined: it works, so the others may follow. */
  readonly isProven: boolean;
  /** Workers of the current definition that have not joined yet. */
  readonly coming: number;
}

/** Adds what the policy asks for; what cannot be launched now is not replaced now. */
export function replaceOutdated(facts: Facts, counts: Counts): void {
  const { updatePolicy = 'keep' } = facts;
  if (updatePolicy === 'keep' || !facts.workers.some(isOld)) return;
  if (isBlocked(facts) || (facts.isProbing && updatePolicy !== 'rolling')) {
    for (const ms of [facts.runawayUntilMs, ...facts.offers.map(({ coolingUntilMs }) => coolingUntilMs)])
      if (ms !== undefined && ms > facts.nowMs) lookAgainAt(counts, ms);
    counts.notes.push(judge('outdated-kept', { facts }, false));
    return;
  }
  const turnover = look(facts, counts);
  const gone = updatePolicy === 'rolling' ? roll(facts, counts, turnover) : replaceFree(facts, counts, turnover);
  if (gone > 0) counts.notes.push(judge('outdated', { facts, count: gone }, true));
}

/** While workers are replaced one after the other, those that come may idle beside the one that goes. */
export function surgeSlots({ updatePolicy, workers, scaling }: Facts): number {
  if (updatePolicy !== 'rolling') return 0;
  let most = 0;
  for (const worker of workers) if (isOld(worker) && idles(worker)) most = Math.max(most, worker.slots);
  return most === 0 ? 0 : most + scaling.slotsPerAgent - 1;
}

/** Here, or expected back: after a restart of the server no agent has returned yet. */
const idles = ({ phase, freeSlots, slots }: WorkerFact): boolean =>
  phase === 'idle' || (phase === 'returning' && freeSlots === slots);

export const isOld = ({ isOutdated }: WorkerFact): boolean => isOutdated === true;

/** Whether a worker of the current definition is on its way. */
export const isTrying = ({ workers }: Facts): boolean => workers.some((worker) => !isOld(worker) && isComing(worker));

function isBlocked({ nowMs, runawayUntilMs = 0, scaling, offers, budgets }: Facts): boolean {
  const { maxPricePerHour = Number.POSITIVE_INFINITY } = scaling;
  return (
    runawayUntilMs > nowMs ||
    offers.every((offer) => {
      const { coolingUntilMs = 0, pricePerHour = 0, maxAgents } = offer;
      const isUnknown = budgets !== undefined && countedPerHour(offer) === undefined;
      return coolingUntilMs > nowMs || pricePerHour > maxPricePerHour || maxAgents === 0 || isUnknown;
    })
  );
}

function look(facts: Facts, counts: Counts): Turnover {
  const old = facts.workers.filter(isOld);
  const current = facts.workers.filter((worker) => !isOld(worker));
  const inPhase = (phase: WorkerFact['phase']): WorkerFact[] => old.filter((worker) => worker.phase === phase);
  return {
    free: removalOrder(facts, counts).filter(isOld),
    busy: inPhase('busy'),
    draining: inPhase('draining').length,
    deleting: inPhase('deleting').length,
    coming: current.filter(isComing).length,
    isProven: current.some(({ phase }) => phase === 'idle' || phase === 'busy'),
  };
}

/**
 * Until one of the new ones has joined, the old ones go one at a time, and none while the pool is short of workers
 * already: the new definition may not work at all.
 */
function replaceFree(facts: Facts, counts: Counts, { free, deleting, coming, isProven }: Turnover): number {
  const isTried = deleting + coming > 0 || isShort(facts, counts);
  const going = isProven ? free : free.slice(0, isTried ? 0 : 1);
  for (const worker of going) addRemoval(counts, worker, { why: WHY });
  return going.length;
}

/** Whether the next step of this very plan is to launch: then that one is the trial. */
function isShort({ scaling }: Facts, { idleSize, size, total }: Counts): boolean {
  return total < scaling.maxAgents && (idleSize < scaling.minIdleSlots || size < scaling.minAgents);
}

/** Step by step: a new one comes before an old one goes, wherever the limits leave room for both. */
function roll(facts: Facts, counts: Counts, turnover: Turnover): number {
  if (facts.isProbing) return tryAgain(facts, counts, turnover);
  const drained = drainBusy(counts, turnover);
  const [oldest] = turnover.free;
  if (!oldest || turnover.deleting + turnover.coming > 0) return drained;
  const room = facts.scaling.maxAgents - counts.total;
  const isMissed = !canGo(facts, counts, oldest);
  if (isMissed && room > 0 && launchFor(facts, counts, oldest)) return drained;
  addRemoval(counts, oldest, { why: WHY });
  return drained + 1;
}

/** Launches the one that will replace it; answers whether an offer had room. */
function launchFor(facts: Facts, counts: Counts, { name }: WorkerFact): boolean {
  const { launched } = spread(facts, counts, { wanted: 1, why: `${name} is to be replaced` });
  if (launched > 0) counts.notes.push(judge('outdated-launch', { facts }, true));
  return launched > 0;
}

/** Machines of the new definition did not join: now and then one more is tried, and no other goes for it. */
function tryAgain(facts: Facts, counts: Counts, { free, coming }: Turnover): number {
  const [oldest] = free;
  if (oldest && coming === 0 && !isShort(facts, counts) && counts.total < facts.scaling.maxAgents)
    launchFor(facts, counts, oldest);
  return 0;
}

/**
 * One without a free slot takes no new session: draining it costs nothing once the new definition is known to work. Of
 * the others the one with the fewest free slots goes first.
 */
function drainBusy(counts: Counts, { busy, draining, isProven }: Turnover): number {
  const full = busy.filter((worker) => worker.freeSlots === 0);
  const one = busy.toSorted((a, b) => a.freeSlots - b.freeSlots).slice(0, draining > 0 ? 0 : 1);
  const going = isProven && full.length > 0 ? full : one;
  for (const worker of going) addDrain(counts, worker, WHY);
  return going.length;
}

// Workers of an older definition make room for those of the current one, as the pool's `update_policy` has it.
import type { Facts, WorkerFact } from './facts.ts';
import { bookDrain, bookRemoval, type Ledger, lookAgainAt } from './ledger.ts';
import { spread } from './spread.ts';
import { canGo, isComing, victims } from './victims.ts';

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

/** Books what the policy asks for; what cannot be launched now is not replaced now. */
export function replaceOutdated(facts: Facts, ledger: Ledger): void {
  const { updatePolicy = 'keep' } = facts;
  if (updatePolicy === 'keep' || !facts.workers.some(isOld)) return;
  if (isBlocked(facts) || (facts.isProbing && updatePolicy !== 'rolling')) {
    for (const ms of [facts.runawayUntilMs, ...facts.offers.map(({ coolingUntilMs }) => coolingUntilMs)])
      if (ms !== undefined && ms > facts.nowMs) lookAgainAt(ledger, ms);
    ledger.notes.push('workers of an older definition stay while nothing can be launched');
    return;
  }
  const turnover = look(facts, ledger);
  const gone = updatePolicy === 'rolling' ? roll(facts, ledger, turnover) : replaceFree(facts, ledger, turnover);
  if (gone > 0) ledger.notes.push(`${gone} of an older definition: replacing ${gone === 1 ? 'it' : 'them'}`);
}

/** While workers are replaced one after the other, those that come may idle beside the one that goes. */
export function surgeSlots({ updatePolicy, workers, scaling }: Facts): number {
  if (updatePolicy !== 'rolling') return 0;
  let most = 0;
  for (const worker of workers) if (isOld(worker) && worker.phase === 'idle') most = Math.max(most, worker.slots);
  return most === 0 ? 0 : most + scaling.slotsPerAgent - 1;
}

export const isOld = ({ isOutdated }: WorkerFact): boolean => isOutdated === true;

/** Whether a worker of the current definition is on its way. */
export const isTrying = ({ workers }: Facts): boolean => workers.some((worker) => !isOld(worker) && isComing(worker));

function isBlocked({ nowMs, runawayUntilMs = 0, scaling, offers }: Facts): boolean {
  const { maxPricePerHour = Number.POSITIVE_INFINITY } = scaling;
  return (
    runawayUntilMs > nowMs ||
    offers.every(
      ({ coolingUntilMs = 0, pricePerHour = 0, maxAgents }) =>
        coolingUntilMs > nowMs || pricePerHour > maxPricePerHour || maxAgents === 0,
    )
  );
}

function look(facts: Facts, ledger: Ledger): Turnover {
  const old = facts.workers.filter(isOld);
  const current = facts.workers.filter((worker) => !isOld(worker));
  const inPhase = (phase: WorkerFact['phase']): WorkerFact[] => old.filter((worker) => worker.phase === phase);
  return {
    free: victims(facts, ledger).filter(isOld),
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
function replaceFree(facts: Facts, ledger: Ledger, { free, deleting, coming, isProven }: Turnover): number {
  const isTried = deleting + coming > 0 || isShort(facts, ledger);
  const going = isProven ? free : free.slice(0, isTried ? 0 : 1);
  for (const worker of going) bookRemoval(ledger, worker, { why: WHY });
  return going.length;
}

/** Whether the next step of this very plan is to launch: then that one is the trial. */
function isShort({ scaling }: Facts, { idleSize, size, total }: Ledger): boolean {
  return total < scaling.maxAgents && (idleSize < scaling.minIdleSlots || size < scaling.minAgents);
}

/** Step by step: a new one comes before an old one goes, wherever the limits leave room for both. */
function roll(facts: Facts, ledger: Ledger, turnover: Turnover): number {
  if (facts.isProbing) return tryAgain(facts, ledger, turnover);
  const drained = drainBusy(ledger, turnover);
  const [oldest] = turnover.free;
  if (!oldest || turnover.deleting + turnover.coming > 0) return drained;
  const room = facts.scaling.maxAgents - ledger.total;
  const isMissed = !canGo(facts, ledger, oldest);
  if (
    isMissed &&
    room > 0 &&
    spread(facts, ledger, { wanted: 1, why: `${oldest.name} is to be replaced` }).launched > 0
  )
    return drained;
  bookRemoval(ledger, oldest, { why: WHY });
  return drained + 1;
}

/** Machines of the new definition did not join: now and then one more is tried, and nobody goes for it. */
function tryAgain(facts: Facts, ledger: Ledger, { free, coming }: Turnover): number {
  const [oldest] = free;
  if (oldest && coming === 0 && !isShort(facts, ledger) && ledger.total < facts.scaling.maxAgents)
    spread(facts, ledger, { wanted: 1, why: `${oldest.name} is to be replaced` });
  return 0;
}

/** One without a free slot serves nobody new: draining it costs nothing once the new definition is known to work. */
function drainBusy(ledger: Ledger, { busy, draining, isProven }: Turnover): number {
  const full = busy.filter((worker) => worker.freeSlots === 0);
  const going = isProven && full.length > 0 ? full : busy.slice(0, draining > 0 ? 0 : 1);
  for (const worker of going) bookDrain(ledger, worker, WHY);
  return going.length;
}

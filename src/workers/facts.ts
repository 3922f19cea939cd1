// The inputs of a pool's plan, and the plan for another definition of the pool. Reading changes nothing.
import { leadTimeOf } from '#core/lead-time.ts';
import type { Pool } from '#core/pool.ts';
import { isFrozen } from '#core/worker.ts';
import { isLookedThrough } from '#machines/restored.ts';
import type { UnknownMachine } from '#machines/unknown.ts';
import { type Action, type Facts, type Plan, plan, type WorkerFact } from '../autoscaler/plan.ts';
import type { WorkersContext } from './context.ts';
import { isPoolHeld } from './freeze.ts';
import { cloudFaultOf, offerFacts } from './launch-failures.ts';
import { limitsNow } from './limits.ts';
import { newMemory, type PoolMemory } from './pool-memory.ts';
import { type Survey, surveyPool } from './survey.ts';

/** All inputs of a pool's plan. */
export function factsOf(
  context: WorkersContext,
  pool: Pool,
  { survey, memory }: { survey: Survey; memory: Readonly<PoolMemory> },
): Facts {
  const { store, clock, owned, times } = context;
  const { view } = store;
  const unknown = owned.unknown.of(pool.id);
  const { scaling, setBy } = limitsNow(context, pool, memory);
  const budgets = context.budgets?.()?.roomFor(pool);
  return {
    nowMs: clock.monotonic(),
    scaling,
    setBy,
    workers: unknown.size === 0 ? survey.workers : [...survey.workers, ...unknownFacts(unknown)],
    queued: view.sessions.count('queue', pool.id) - view.sessions.count('unmatched', pool.id),
    offers: offerFacts(context, pool, { memory, isBudgeted: budgets !== undefined }),
    budgets,
    updatePolicy: pool.spec.updatePolicy ?? 'replace_idle',
    isReady: isReady(context, pool, memory),
    cloudFault: cloudFaultOf(context, pool),
    isPaused: pool.pausedAt !== undefined,
    isFrozen: isFrozen(store, pool.id) && isPoolHeld(store, pool.id),
    isRemoving: pool.removal !== undefined,
    runawayUntilMs: memory.runawayUntilMs,
    isProbing: memory.runawayRounds > 0,
    lostAfterMs: times.lostAfterMs,
    surplusSinceMs: memory.surplusSinceMs,
  };
}

function unknownFacts(unknown: ReadonlyMap<string, UnknownMachine>): WorkerFact[] {
  return [...unknown].map(([name, { sinceMs, isDeleting }]) => {
    return { name, phase: isDeleting ? 'deleting' : 'unknown', slots: 1, freeSlots: 1, sinceMs };
  });
}

/** Ready when a cloud of the pool has been listed and shows no unknown machine, or when `initial_delay` is over. */
function isReady({ owned, clock }: WorkersContext, { id, spec }: Pool, memory: Readonly<PoolMemory>): boolean {
  if (memory.isReady) return true;
  const { initialDelayMs } = spec.scaling;
  const isWaitOver = initialDelayMs !== undefined && clock.monotonic() - memory.firstMs >= initialDelayMs;
  return isWaitOver || (isLookedThrough(owned.base, spec.offers) && owned.unknown.of(id).size === 0);
}

/** What the plan for a pool would be now. */
export function planFor(context: WorkersContext, pool: Pool): Plan {
  const survey = surveyPool(context, pool.id, pool);
  return plan(factsOf(context, pool, { survey, memory: context.pools.read(pool.id) }));
}

/** A new definition resets failures; a pool that does not exist yet has no machines to wait for. */
function memoryFor({ store, clock, pools }: WorkersContext, pool: Pool): PoolMemory {
  const fresh = newMemory(clock);
  const known = store.view.pools.get(pool.id);
  if (!known) return { ...fresh, isReady: true };
  const kept = pools.read(pool.id);
  if (known === pool) return { ...kept };
  const { cooling, failedBoots, runawayRounds, runawayUntilMs } = fresh;
  return { ...kept, cooling, failedBoots, runawayRounds, runawayUntilMs };
}

/** A removed pool drains those at once that still have sessions; the plan tells only of those that go. */
function drained(workers: readonly WorkerFact[]): Action[] {
  const isAtWork = ({ phase, slots, freeSlots }: WorkerFact): boolean =>
    freeSlots < slots && phase !== 'draining' && phase !== 'deleting' && phase !== 'unknown';
  return workers
    .filter(isAtWork)
    .map(({ name }) => ({ do: 'drain', worker: name, why: 'the pool is being removed, its sessions finish' }));
}

/** A plan, and what later passes would do. */
export interface Foreseen extends Plan {
  /** Number of workers that would then have an older definition, and be replaced. */
  readonly replaced: number;
  /** Sessions that end first: those on workers that are replaced or go. */
  readonly awaited: number;
  /** How long replacing takes once these sessions have ended, as far as machines take as long as the last ones. */
  readonly replacedAfterMs: number;
  /** With the prices that hold now. */
  readonly offers: Facts['offers'];
}

function countReplaced({ workers, updatePolicy = 'keep', isRemoving }: Facts): number {
  if (updatePolicy === 'keep' || isRemoving) return 0;
  return workers.filter(({ isOutdated, phase }) => isOutdated && phase !== 'draining' && phase !== 'deleting').length;
}

/** With `rolling` one after the other; else the first one that joins lets all others go. */
function replacedAfterMs({ updatePolicy }: Facts, replaced: number, { readyMs = [] }: Readonly<PoolMemory>): number {
  const rounds = updatePolicy === 'rolling' ? replaced : Math.min(replaced, 2);
  return rounds * leadTimeOf(readyMs);
}

function countAwaited({ workers, isRemoving, updatePolicy = 'keep' }: Facts): number {
  const goes = ({ isOutdated, phase }: WorkerFact): boolean =>
    phase !== 'deleting' && phase !== 'unknown' && (isRemoving || (isOutdated === true && updatePolicy !== 'keep'));
  return workers.reduce((sum, worker) => sum + (goes(worker) ? worker.slots - worker.freeSlots : 0), 0);
}

/** What the next pass would do if this were the pool: one that exists, changed, or one that does not exist yet. */
export function foresee(context: WorkersContext, pool: Pool): Foreseen {
  const survey = surveyPool(context, pool.id, pool);
  const memory = memoryFor(context, pool);
  const facts = factsOf(context, pool, { survey, memory });
  const replaced = countReplaced(facts);
  const next = {
    ...{ ...plan(facts), replaced, awaited: countAwaited(facts), offers: facts.offers },
    replacedAfterMs: replacedAfterMs(facts, replaced, memory),
  };
  return pool.removal ? { ...next, actions: [...next.actions, ...drained(facts.workers)] } : next;
}

// What a pool would do if it were defined so: the same survey, facts and plan, with nothing remembered of it.
import type { Pool } from '#core/pool.ts';
import { type Action, type Facts, type Plan, plan, type WorkerFact } from '../autoscaler/plan.ts';
import { factsOf } from './facts.ts';
import type { Kit } from './kit.ts';
import { newMemory, type PoolMemory } from './pool-memory.ts';
import { surveyPool } from './survey.ts';

/** A definition forgives what failed before; a pool that is not there yet has nothing to wait for in its cloud. */
function memoryFor(kit: Kit, pool: Pool): PoolMemory {
  const { pools } = kit.store.view;
  const fresh = newMemory(kit.clock);
  if (!pools.get(pool.id)) return { ...fresh, isReady: true };
  const kept = kit.memoryOf(pool.id);
  if (pools.get(pool.id) === pool) return { ...kept };
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

/** A plan, and what it leaves to the passes after the next. */
export interface Foreseen extends Plan {
  /** How many workers would be of an older definition then, and be replaced. */
  readonly replaced: number;
}

function countReplaced({ workers, updatePolicy = 'keep', isRemoving }: Facts): number {
  if (updatePolicy === 'keep' || isRemoving) return 0;
  return workers.filter(({ isOutdated, phase }) => isOutdated && phase !== 'draining' && phase !== 'deleting').length;
}

/** What the next pass would do if this were the pool: one that exists, changed, or one that does not exist yet. */
export function foresee(kit: Kit, pool: Pool): Foreseen {
  const memory = memoryFor(kit, pool);
  const quiet: Kit = { ...kit, memoryOf: (id) => (id === pool.id ? memory : kit.memoryOf(id)) };
  const facts = factsOf(quiet, pool, surveyPool(quiet, pool.id, pool));
  const next = { ...plan(facts), replaced: countReplaced(facts) };
  return pool.removal ? { ...next, actions: [...next.actions, ...drained(facts.workers)] } : next;
}

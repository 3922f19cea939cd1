import type { Pool } from '#core/pool.ts';
import { FLEET } from '#core/worker.ts';
import type { Facts, WorkerFact } from '../autoscaler/plan.ts';
import { cloudFaultOf, offerFacts } from './boots.ts';
import type { Kit } from './kit.ts';
import type { PoolMemory } from './pool-memory.ts';
import { isLookedThrough } from './restored.ts';
import type { Survey } from './survey.ts';

/** All that the plan of a pool rests on. */
export function factsOf(kit: Kit, pool: Pool, survey: Survey): Facts {
  const { view } = kit.store;
  const memory = kit.memoryOf(pool.id);
  return {
    nowMs: kit.clock.monotonic(),
    scaling: pool.spec.scaling,
    workers: memory.unknown.size === 0 ? survey.workers : [...survey.workers, ...unknownOf(memory)],
    queued: view.sessions.count('queue', pool.id) - view.sessions.count('unmatched', pool.id),
    offers: offerFacts(kit, pool),
    updatePolicy: pool.spec.updatePolicy ?? 'replace_idle',
    isReady: isReady(kit, pool),
    cloudFault: cloudFaultOf(kit, pool),
    isPaused: pool.pausedAt !== undefined,
    isFrozen: view.freezes.get(FLEET) !== undefined || view.freezes.get(pool.id) !== undefined,
    isRemoving: pool.removal !== undefined,
    runawayUntilMs: memory.runawayUntilMs,
    isProbing: memory.runawayRounds > 0,
    lostAfterMs: kit.times.lostAfterMs,
    surplusSinceMs: memory.surplusSinceMs,
  };
}

function unknownOf({ unknown }: PoolMemory): WorkerFact[] {
  return [...unknown].map(([name, { sinceMs, isDeleting }]) => {
    return { name, phase: isDeleting ? 'deleting' : 'unknown', slots: 1, freeSlots: 1, sinceMs };
  });
}

/** Ready when a cloud of the pool has been listed and shows nothing that nobody knows, or when `initial_delay` is over. */
function isReady(kit: Kit, pool: Pool): boolean {
  const memory = kit.memoryOf(pool.id);
  if (memory.isReady) return true;
  const { initialDelayMs } = pool.spec.scaling;
  const isWaitOver = initialDelayMs !== undefined && kit.clock.monotonic() - memory.firstMs >= initialDelayMs;
  memory.isReady = isWaitOver || (isLookedThrough(kit, pool) && memory.unknown.size === 0);
  return memory.isReady;
}

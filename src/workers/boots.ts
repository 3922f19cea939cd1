// What failed launches and machines that never join do to a pool: cool-downs of its offers, and a guard against more of the same.
import type { Fault } from '#core/fault.ts';
import type { Pool } from '#core/pool.ts';
import type { OfferFact } from '../autoscaler/plan.ts';
import type { Kit } from './kit.ts';

const BOOTS_BEFORE_GUARD = 3;

/** Nothing is launched from that offer for a while. */
export function coolDown(
  kit: Kit,
  pool: Pool,
  failure: { offer: string; fault: Pick<Fault, 'kind' | 'message' | 'retryAfterMs'> },
): void {
  const { retryDelayMs, errorResetAfterMs } = pool.spec.scaling;
  const { kind, message, retryAfterMs = 0 } = failure.fault;
  const waitMs = Math.max(Math.min(retryDelayMs, errorResetAfterMs), retryAfterMs);
  const untilMs = kit.clock.monotonic() + waitMs;
  kit.memoryOf(pool.id).cooling.set(failure.offer, { untilMs, why: `${kind}: ${message}`, at: kit.clock.now() });
}

/** The offers of a pool with their terms, and until when each of them cools down. */
export function offerFacts(kit: Kit, { id, spec }: Pool): OfferFact[] {
  const { cooling } = kit.memoryOf(id);
  return spec.offers.map((offer) => {
    const cool = cooling.get(offer.id);
    const terms = spec.terms?.[offer.id];
    return {
      id: offer.id,
      pricePerHour: terms?.pricePerHour,
      maxAgents: terms?.maxAgents,
      coolingUntilMs: cool?.untilMs,
      coolingWhy: cool?.why,
    };
  });
}

/** What the newest failed launch of a pool came to, until an agent joins or someone changes the pool. */
export function launchFaultOf(kit: Kit, pool: string): { readonly message: string; readonly at: number } | undefined {
  const failures = [...kit.memoryOf(pool).cooling.values()];
  const newest = failures.toSorted((a, b) => b.at - a.at)[0];
  return newest && { message: newest.why, at: newest.at };
}

/** A machine never joined; after some in a row launching stops, for longer each time. */
export function bootFailed(kit: Kit, pool: string): void {
  const memory = kit.memoryOf(pool);
  memory.failedBoots += 1;
  const nowMs = kit.clock.monotonic();
  if (memory.failedBoots < BOOTS_BEFORE_GUARD || memory.runawayUntilMs > nowMs) return;
  const { runawayMs, longestRunawayMs } = kit.times;
  const waitMs = Math.min(longestRunawayMs, runawayMs * 2 ** Math.min(memory.runawayRounds, 20));
  memory.runawayUntilMs = nowMs + waitMs;
  memory.runawayRounds += 1;
  kit.log('warn', 'machines do not join, launching stops for a while', { pool, failures: memory.failedBoots, waitMs });
}

/** An agent joined, or someone changed the pool: whatever failed before may work now. */
export function forgiveFailures(kit: Kit, pool: string): void {
  const memory = kit.memoryOf(pool);
  memory.cooling.clear();
  memory.failedBoots = 0;
  memory.runawayRounds = 0;
  memory.runawayUntilMs = Number.NEGATIVE_INFINITY;
}

// What failed launches and machines that never join do to a pool: cool-downs of its offers, and a guard against more of the same.
import type { Fault } from '#core/fault.ts';
import type { Pool } from '#core/pool.ts';
import type { Facts, OfferFact } from '../autoscaler/plan.ts';
import type { Kit } from './kit.ts';
import { priceOf } from './offers.ts';

const BOOTS_BEFORE_GUARD = 3;

/** Why there is no machine, as far as whoever says it knows the remedy. */
export type Failure = Pick<Fault, 'kind' | 'message'> & Partial<Pick<Fault, 'retryAfterMs' | 'remedy'>>;

/** Cause and remedy in one line. */
function lineOf({ kind, message, remedy = '' }: Failure): string {
  const cause = `${kind}: ${message}`.replace(/\s+/g, ' ').trim();
  const isSentence = /[.!?…]$/.test(cause);
  return remedy === '' ? cause : `${cause}${isSentence ? '' : '.'} ${remedy}`;
}

/** Nothing is launched from that offer for a while. */
export function coolDown(kit: Kit, pool: Pool, failure: { offer: string; fault: Failure }): void {
  const { retryDelayMs, errorResetAfterMs } = pool.spec.scaling;
  const { retryAfterMs = 0 } = failure.fault;
  const waitMs = Math.max(Math.min(retryDelayMs, errorResetAfterMs), retryAfterMs);
  const untilMs = kit.clock.monotonic() + waitMs;
  kit.memoryOf(pool.id).cooling.set(failure.offer, {
    untilMs,
    fault: failure.fault.kind,
    why: lineOf(failure.fault),
    at: kit.clock.now(),
  });
}

/** The offers of a pool with their terms, and until when each of them cools down. */
export function offerFacts(kit: Kit, { id, spec }: Pool): OfferFact[] {
  const { cooling } = kit.memoryOf(id);
  return spec.offers.map((offer) => {
    const cool = cooling.get(offer.id);
    const terms = spec.terms?.[offer.id];
    return {
      id: offer.id,
      pricePerHour: priceOf(kit, spec, offer.id),
      maxAgents: terms?.maxAgents,
      coolingUntilMs: cool?.untilMs,
      coolingFault: cool?.fault,
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

/** Why the clouds of a pool cannot be asked, where none of them can. */
export function cloudFaultOf({ clouds }: Kit, { spec }: Pool): Facts['cloudFault'] {
  const [first, ...others] = spec.offers.map(({ id }) => clouds.fault(id));
  return first && others.every(Boolean) ? { kind: first.kind, message: lineOf(first) } : undefined;
}

/** What keeps a pool from its machines now, in one line. */
export function troubleOf(kit: Kit, id: string): string | undefined {
  const pool = kit.store.view.pools.get(id);
  return pool && (launchFaultOf(kit, id)?.message ?? cloudFaultOf(kit, pool)?.message);
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

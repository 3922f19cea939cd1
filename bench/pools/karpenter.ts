import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import type { Facts } from '../../src/autoscaler/plan.ts';
import type { Planner } from '../../src/foresight/model.ts';
import { peerPlanner } from './peer.ts';

// How long an offering that was refused is left out (`UnavailableOfferingsTTL`); `consolidateAfter` of its examples.
const REFUSED_MS = 3 * MINUTE_MS;
const EMPTY_MS = 30 * SECOND_MS;

/** What Karpenter does: a node for each pod that waits, none that stays empty, and three minutes' memory of refusals. */
export function karpenter(): Planner {
  const refusedUntilMs = new Map<string, number>();
  const seen = new Map<string, number>();

  function offer({ offers, nowMs }: Facts): string | undefined {
    for (const { id, coolingUntilMs } of offers) {
      if (coolingUntilMs === undefined || seen.get(id) === coolingUntilMs) continue;
      seen.set(id, coolingUntilMs);
      refusedUntilMs.set(id, nowMs + REFUSED_MS);
    }
    return offers.find(({ id }) => (refusedUntilMs.get(id) ?? 0) <= nowMs)?.id;
  }
  return peerPlanner({ spare: () => 0, emptyMs: EMPTY_MS, everyMs: REFUSED_MS, offer });
}

// Which offers a number of new machines comes from.
import type { Facts, OfferFact } from './facts.ts';
import { isAtRest, type Ledger, lookAgainAt } from './ledger.ts';

export interface Spread {
  readonly launched: number;
  /** Why not all of it, as far as the offers are the reason. */
  readonly held?: 'cooling' | 'price' | 'full' | undefined;
  /** What the offers that cool down said, those that would have been tried first. */
  readonly coolingWhy?: string | undefined;
}

/** Books launches of up to `wanted` machines: offers in their order, each within its own limit, all within the price. */
export function spread(facts: Facts, ledger: Ledger, { wanted, why }: { wanted: number; why: string }): Spread {
  const cooling: OfferFact[] = [];
  let left = wanted;
  let isPriceShort = false;
  for (const offer of facts.offers) {
    if (left === 0) break;
    if ((offer.coolingUntilMs ?? 0) > facts.nowMs) {
      cooling.push(offer);
      continue;
    }
    const byPrice = roomByPrice(facts, ledger, offer);
    const byCount = Math.min(left, roomOf(facts, ledger, offer));
    const count = Math.min(byCount, byPrice);
    if (byPrice < byCount) isPriceShort = true;
    if (count === 0) continue;
    left -= count;
    book(facts, ledger, { offer, count, why });
  }
  if (left > 0) for (const { coolingUntilMs = 0 } of cooling) lookAgainAt(ledger, coolingUntilMs);
  const reasons = new Set(cooling.flatMap(({ coolingWhy }) => coolingWhy ?? []));
  return {
    launched: wanted - left,
    held: left === 0 ? undefined : heldBy(cooling.length, isPriceShort),
    coolingWhy: reasons.size > 0 ? [...reasons].join('; ') : undefined,
  };
}

function heldBy(cooling: number, isPriceShort: boolean): Spread['held'] {
  if (isPriceShort) return 'price';
  return cooling > 0 ? 'cooling' : 'full';
}

/** Machines booked in this very plan count too. */
function roomOf({ workers }: Facts, { actions }: Ledger, { id, maxAgents }: OfferFact): number {
  if (maxAgents === undefined) return Number.POSITIVE_INFINITY;
  let there = 0;
  for (const worker of workers) if (worker.offer === id && !isAtRest(worker)) there += 1;
  for (const action of actions) if (action.do === 'launch' && action.offer === id) there += action.count;
  return Math.max(0, maxAgents - there);
}

// Prices are decimal fractions: ten times 0.1 must fit into 1.
const ROUNDING = 1e-9;

function roomByPrice({ scaling }: Facts, ledger: Ledger, { pricePerHour = 0 }: OfferFact): number {
  if (scaling.maxPricePerHour === undefined || pricePerHour === 0) return Number.POSITIVE_INFINITY;
  return Math.max(0, Math.floor((scaling.maxPricePerHour - ledger.pricePerHour) / pricePerHour + ROUNDING));
}

function book(
  { scaling }: Facts,
  ledger: Ledger,
  { offer, count, why }: { offer: OfferFact; count: number; why: string },
): void {
  ledger.actions.push({ do: 'launch', offer: offer.id, count, why });
  ledger.size += count;
  ledger.total += count;
  ledger.pricePerHour += count * (offer.pricePerHour ?? 0);
  ledger.idleSlots += count * scaling.slotsPerAgent;
  ledger.idleSize += count * scaling.slotsPerAgent;
}

// Which offers a number of new machines comes from.
import { nanoPrice } from '#core/pool-price.ts';
import { type Counts, isAtRest, lookAgainAt } from './counts.ts';
import type { Facts, OfferFact } from './facts.ts';

export interface Spread {
  readonly launched: number;
  /** Why not all of it, as far as the offers are the reason. */
  readonly held?: 'launch-failed' | 'max-price' | 'backends-full' | undefined;
  /** An offer was passed over since launching from it failed. */
  readonly isFromNext: boolean;
  /** What those offers said, in the order in which they would have been tried. */
  readonly coolingWhy?: string | undefined;
}

/** Adds launches of up to `wanted` machines: offers in their order, each within its own limit, all within the price. */
export function spread(facts: Facts, counts: Counts, { wanted, why }: { wanted: number; why: string }): Spread {
  const cooling: OfferFact[] = [];
  let left = wanted;
  let isPriceShort = false;
  for (const offer of facts.offers) {
    const share = shareOf(facts, counts, { offer, left });
    if (share.whyNot !== undefined)
      notTaken(counts, offer, { count: left - share.count || wanted, whyNot: share.whyNot });
    if (share.isCooling) cooling.push(offer);
    if (share.isPriceShort) isPriceShort = true;
    if (share.count === 0) continue;
    left -= share.count;
    addLaunch(facts, counts, { offer, count: share.count, why });
  }
  if (left > 0) for (const { coolingUntilMs = 0 } of cooling) lookAgainAt(counts, coolingUntilMs);
  const reasons = new Set(cooling.flatMap(({ coolingWhy }) => coolingWhy ?? []));
  return {
    launched: wanted - left,
    held: left === 0 ? undefined : heldBy(cooling.length, isPriceShort),
    isFromNext: cooling.length > 0,
    coolingWhy: reasons.size > 0 ? [...reasons].join('; ') : undefined,
  };
}

interface Share {
  readonly count: number;
  /** Why not more of it. */
  readonly whyNot?: string;
  readonly isCooling?: true;
  readonly isPriceShort?: true;
}

/** How many of those left an offer gives. */
function shareOf(facts: Facts, counts: Counts, { offer, left }: { offer: OfferFact; left: number }): Share {
  if (left === 0) return { count: 0, whyNot: 'the backends before it have enough room' };
  if ((offer.coolingUntilMs ?? 0) > facts.nowMs)
    return { count: 0, whyNot: offer.coolingWhy ?? 'the last launch failed', isCooling: true };
  const byPrice = roomByPrice(facts, counts, offer);
  const byCount = Math.min(left, roomOf(facts, counts, offer));
  if (byPrice < byCount)
    return {
      count: byPrice,
      whyNot: `max_price_per_hour ${facts.scaling.maxPricePerHour} would be exceeded`,
      isPriceShort: true,
    };
  return byCount < left
    ? { count: byCount, whyNot: `its max_agents ${offer.maxAgents} is reached` }
    : { count: byCount };
}

function notTaken(
  { alternatives }: Counts,
  { id, pricePerHour }: OfferFact,
  { count, whyNot }: { count: number; whyNot: string },
): void {
  const what = `launch ${count} from backend ${id}`;
  alternatives.push(pricePerHour === undefined ? { what, whyNot } : { what, whyNot, pricePerHour });
}

function heldBy(cooling: number, isPriceShort: boolean): Spread['held'] {
  if (isPriceShort) return 'max-price';
  return cooling > 0 ? 'launch-failed' : 'backends-full';
}

/** Launches of this very plan count too. */
function roomOf({ workers }: Facts, { actions }: Counts, { id, maxAgents }: OfferFact): number {
  if (maxAgents === undefined) return Number.POSITIVE_INFINITY;
  let there = 0;
  for (const worker of workers) if (worker.offer === id && !isAtRest(worker)) there += 1;
  for (const action of actions) if (action.do === 'launch' && action.offer === id) there += action.count;
  return Math.max(0, maxAgents - there);
}

function roomByPrice({ scaling }: Facts, counts: Counts, { pricePerHour = 0 }: OfferFact): number {
  const price = nanoPrice(pricePerHour);
  if (scaling.maxPricePerHour === undefined || price === 0) return Number.POSITIVE_INFINITY;
  return Math.max(0, Math.floor((nanoPrice(scaling.maxPricePerHour) - counts.pricePerHourNano) / price));
}

function addLaunch(
  { scaling }: Facts,
  counts: Counts,
  { offer, count, why }: { offer: OfferFact; count: number; why: string },
): void {
  counts.actions.push({ do: 'launch', offer: offer.id, count, why });
  counts.size += count;
  counts.total += count;
  counts.pricePerHourNano += count * nanoPrice(offer.pricePerHour ?? 0);
  counts.idleSlots += count * scaling.slotsPerAgent;
  counts.idleSize += count * scaling.slotsPerAgent;
}

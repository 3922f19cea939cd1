// Which offers a number of new machines comes from.
import { nanoPrice } from '#core/pool-price.ts';
import { countedPerHour, limitText, roomInBudget, type Tightest, tightestOf } from './budget-room.ts';
import { type Counts, isAtRest, lookAgainAt } from './counts.ts';
import type { Facts, OfferFact } from './facts.ts';

export interface Spread {
  readonly launched: number;
  /** Why not all of it, as far as the offers are the reason. */
  readonly held?: 'launch-failed' | 'max-price' | Tightest['limit'] | 'price-unknown' | 'backends-full' | undefined;
  /** The budget that leaves the least, where one is the reason. */
  readonly tightest?: Tightest | undefined;
  /** An offer was passed over since launching from it failed. */
  readonly isFromNext: boolean;
  /** What those offers said, in the order in which they would have been tried. */
  readonly coolingWhy?: string | undefined;
}

/** Adds launches of up to `wanted` machines: offers in their order, each within its own limit, all within price and budgets. */
export function spread(facts: Facts, counts: Counts, { wanted, why }: { wanted: number; why: string }): Spread {
  const cooling: OfferFact[] = [];
  const tightest = tightestOf(facts);
  const shorts = new Set<Short>();
  let left = wanted;
  for (const offer of facts.offers) {
    const share = shareOf(facts, counts, { offer, left, tightest });
    if (share.whyNot !== undefined)
      notTaken(counts, offer, { count: left - share.count || wanted, whyNot: share.whyNot });
    if (share.isCooling) cooling.push(offer);
    if (share.short !== undefined) shorts.add(share.short);
    if (share.count === 0) continue;
    left -= share.count;
    addLaunch(facts, counts, { offer, count: share.count, why });
  }
  if (left > 0) for (const { coolingUntilMs = 0 } of cooling) lookAgainAt(counts, coolingUntilMs);
  const reasons = new Set(cooling.flatMap(({ coolingWhy }) => coolingWhy ?? []));
  return {
    launched: wanted - left,
    held: left === 0 ? undefined : heldBy(cooling.length, shorts),
    tightest,
    isFromNext: cooling.length > 0,
    coolingWhy: reasons.size > 0 ? [...reasons].join('; ') : undefined,
  };
}

/** Bounds in dollars, the one that the reason names first. */
const SHORTS = ['max-price', 'budget-hour', 'budget-month', 'price-unknown'] as const;
type Short = (typeof SHORTS)[number];

interface Share {
  readonly count: number;
  /** Why not more of it. */
  readonly whyNot?: string;
  readonly isCooling?: true;
  readonly short?: Short;
}

/** How many of those left an offer gives. */
function shareOf(
  facts: Facts,
  counts: Counts,
  { offer, left, tightest }: { offer: OfferFact; left: number; tightest: Tightest | undefined },
): Share {
  if (left === 0) return { count: 0, whyNot: 'the backends before it have enough room' };
  if ((offer.coolingUntilMs ?? 0) > facts.nowMs)
    return { count: 0, whyNot: offer.coolingWhy ?? 'the last launch failed', isCooling: true };
  if (tightest && countedPerHour(offer) === undefined)
    return { count: 0, whyNot: `budget ${tightest.budget.name} needs its price`, short: 'price-unknown' };
  const byPrice = roomByPrice(facts, counts, offer);
  const byBudget = roomInBudget(tightest, counts, offer);
  const byCount = Math.min(left, roomOf(facts, counts, offer));
  if (byPrice < byCount && byPrice <= byBudget)
    return {
      count: byPrice,
      whyNot: `max_price_per_hour ${facts.scaling.maxPricePerHour} would be exceeded`,
      short: 'max-price',
    };
  if (tightest && byBudget < byCount)
    return { count: byBudget, whyNot: `${limitText(tightest)} would be exceeded`, short: tightest.limit };
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

function heldBy(cooling: number, shorts: ReadonlySet<Short>): Spread['held'] {
  return SHORTS.find((short) => shorts.has(short)) ?? (cooling > 0 ? 'launch-failed' : 'backends-full');
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
  counts.launchedNano += count * nanoPrice(countedPerHour(offer) ?? 0);
  counts.idleSlots += count * scaling.slotsPerAgent;
  counts.idleSize += count * scaling.slotsPerAgent;
}

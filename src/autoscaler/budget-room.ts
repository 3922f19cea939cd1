// What the budgets of a pool leave for its launches: of several, the one that leaves the least.
import type { BudgetRoom } from '#core/budget.ts';
import { nanoPrice } from '#core/pool-price.ts';
import type { Counts } from './counts.ts';
import type { Facts, OfferFact } from './facts.ts';

export interface Tightest {
  readonly budget: BudgetRoom;
  readonly limit: 'budget-hour' | 'budget-month';
  readonly leftNano: number;
}

const NOTHING = Number.NEGATIVE_INFINITY;

function roomsOf(budget: BudgetRoom): readonly Tightest[] {
  const { perHour, hourLeft = NOTHING, perMonth, monthLeft = NOTHING } = budget;
  const hour = { budget, limit: 'budget-hour', leftNano: nanoPrice(hourLeft) } as const;
  // A machine counts with one more hour of it.
  const month = { budget, limit: 'budget-month', leftNano: nanoPrice(monthLeft) } as const;
  return [...(perHour === undefined ? [] : [hour]), ...(perMonth === undefined ? [] : [month])];
}

/** Every launch takes the same from all of them, so it stays the tightest while a plan is made. */
export function tightestOf({ budgets }: Pick<Facts, 'budgets'>): Tightest | undefined {
  let tightest: Tightest | undefined;
  for (const budget of budgets ?? [])
    for (const room of roomsOf(budget)) if (!tightest || room.leftNano < tightest.leftNano) tightest = room;
  return tightest;
}

/** What budgets count for a machine of that offer; undefined: it is not known. */
export function countedPerHour({ countedPerHour, isUnpriced, pricePerHour }: OfferFact): number | undefined {
  return isUnpriced ? undefined : (countedPerHour ?? pricePerHour);
}

/** How many machines of that offer the budgets leave room for; what costs nothing is not theirs. */
export function roomInBudget(tightest: Tightest | undefined, counts: Counts, offer: OfferFact): number {
  const price = nanoPrice(countedPerHour(offer) ?? 0);
  if (!tightest || price === 0) return Number.POSITIVE_INFINITY;
  return Math.max(0, Math.floor((tightest.leftNano - counts.launchedNano) / price));
}

/** `per_hour 120 of budget ml`. */
export function limitText({ budget, limit }: Tightest): string {
  const { name, perHour, perMonth, monthLeft } = budget;
  if (limit === 'budget-hour') return `per_hour ${perHour} of budget ${name}`;
  const text = `per_month ${perMonth} of budget ${name}`;
  return monthLeft === undefined ? `${text}, whose spending is still being counted` : text;
}

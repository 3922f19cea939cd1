// What a budget leaves: pure, from its tally.
import type { BudgetRoom } from '#core/budget.ts';
import { perHourOfTally, type Tally } from './tally.ts';

/** Sums of fractions of a cent drift. */
const DRIFT = 1e-9;

export const isSpent = ({ budget: { perMonth }, dollars }: Tally): boolean =>
  perMonth !== undefined && dollars >= perMonth - DRIFT;

/** While the history of the month is being read, what is left of it is not known. */
export function roomOf(tally: Tally, isCounted: boolean): BudgetRoom {
  const { name, perHour, perMonth } = tally.budget;
  const now = perHourOfTally(tally);
  const hourLeft = perHour === undefined ? undefined : perHour - now;
  if (perMonth === undefined) return { name, perHour, hourLeft };
  // What runs goes on for another hour.
  const monthLeft = isCounted ? perMonth - tally.dollars - now : undefined;
  return { name, perHour, hourLeft, perMonth, monthLeft, isSpent: isSpent(tally) ? true : undefined };
}

/** Whether one more machine of that price fits. */
export const fits = ({ perHour, hourLeft, perMonth, monthLeft }: BudgetRoom, price: number): boolean =>
  (perHour === undefined || (hourLeft ?? -1) >= price - DRIFT) &&
  (perMonth === undefined || (monthLeft ?? -1) >= price - DRIFT);

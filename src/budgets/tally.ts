// The sums of one budget: dollars an hour now, and dollars since the month began.
import type { Budget } from '#core/budget.ts';
import { HOUR_MS } from '#core/clock.ts';
import { monthFrom, nextMonthFrom } from '#core/month.ts';
import { addPerHour, type PriceSum } from '#core/pool-price.ts';
import { costIn, isRunning, type Meter, perHourNow } from './meter.ts';

export interface Tally {
  readonly budget: Budget;
  readonly sum: PriceSum;
  machines: number;
  /** Spent in the month until `atMs`. */
  dollars: number;
  atMs: number;
  monthMs: number;
  /** When the next one begins. */
  monthEndMs: number;
}

export function openTally(budget: Budget, nowMs: number, monthMs: number): Tally {
  const sum = { priceNano: 0, unpriced: 0 };
  return { budget, sum, machines: 0, dollars: 0, atMs: nowMs, monthMs, monthEndMs: nextMonthFrom(monthMs) };
}

export const perHourOfTally = ({ sum }: Tally): number => sum.priceNano / 1e9;

/** Lets time pass; with a month a new sum begins. A clock that is set back does not begin an old one again. */
export function advance(tally: Tally, nowMs: number): void {
  if (nowMs === tally.atMs) return;
  if (nowMs >= tally.monthEndMs) {
    const began = monthFrom(nowMs);
    Object.assign(tally, { dollars: 0, atMs: began, monthMs: began, monthEndMs: nextMonthFrom(began) });
  }
  tally.dollars += (perHourOfTally(tally) * (nowMs - tally.atMs)) / HOUR_MS;
  tally.atMs = nowMs;
}

/** Adds a machine with all that it has cost, or with -1 takes it out again. */
export function countIn(tally: Tally, meter: Meter, nowMs: number, sign: 1 | -1 = 1): void {
  advance(tally, nowMs);
  tally.dollars += sign * costIn(tally.monthMs, nowMs, meter);
  if (!isRunning(meter)) return;
  tally.machines += sign;
  addPerHour(tally.sum, perHourNow(meter, nowMs), sign);
}

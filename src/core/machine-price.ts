// What a machine costs by the time, and which of several prices of it budgets count.
import { HOUR_MS } from './clock.ts';
import type { Price } from './pool.ts';

/** What the operator lets a source say of prices: all, or those that no cloud tells; absent: only such as exceed that of the cloud. */
export type PriceTrust = 'stated' | 'where the cloud has none';

export interface KnownPrice {
  /** As its pool says. */
  readonly stated: number | undefined;
  /** As its cloud says. */
  readonly listed: number | undefined;
  readonly trust: PriceTrust | undefined;
}

/** A document of others must not make machines cheap. */
export function countedPrice({ stated, listed, trust }: KnownPrice): number | undefined {
  if (stated === undefined) return listed;
  if (trust === 'stated') return stated;
  if (listed !== undefined) return Math.max(stated, listed);
  return trust === undefined ? undefined : stated;
}

export interface PricedMachine {
  readonly askedAt: number;
  /** When it was asked for. */
  readonly perHour: number | undefined;
  readonly stated: number | undefined;
  /** What its cloud said, by time. */
  readonly listed: readonly Price[];
  readonly trust: PriceTrust | undefined;
}

/** What budgets count for a machine, since it was asked for and at each change. */
export function countedPrices({ askedAt, perHour, stated, listed, trust }: PricedMachine): readonly Price[] {
  const later = listed.filter(({ from }) => from > askedAt);
  const before = listed.findLast(({ from }) => from <= askedAt)?.perHour;
  if (stated === undefined) {
    const first = perHour ?? before;
    return first === undefined ? later : [{ from: askedAt, perHour: first }, ...later];
  }
  // A pool that states another price since does not change what it said when the machine was asked for.
  const own = perHour ?? stated;
  if (trust === 'stated') return [{ from: askedAt, perHour: own }];
  return [{ from: askedAt, perHour: before }, ...later].flatMap(({ from, perHour: cloud }) => {
    const counted = countedPrice({ stated: own, listed: cloud, trust });
    return counted === undefined ? [] : [{ from, perHour: counted }];
  });
}

/** The price at a moment; before the first one that is known, that. */
export const priceAt = (prices: readonly Price[], atMs: number): number | undefined =>
  (prices.findLast(({ from }) => from <= atMs) ?? prices[0])?.perHour;

/** By the price of each moment; before the first one that is known, by that. */
export function dollarsBetween(prices: readonly Price[] = [], startMs: number, endMs: number): number {
  let dollars = 0;
  for (const [at, { from, perHour }] of prices.entries()) {
    const beginMs = Math.max(startMs, at === 0 ? startMs : from);
    const untilMs = Math.min(endMs, prices[at + 1]?.from ?? endMs);
    if (untilMs > beginMs) dollars += ((untilMs - beginMs) / HOUR_MS) * perHour;
  }
  return dollars;
}

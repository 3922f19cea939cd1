// What one machine costs by the time: pure, from its row and the prices that are known.
import type { EndedMachine, MachineRow, RanBefore } from '#core/machine.ts';
import { countedPrices, dollarsBetween, type PriceTrust, priceAt } from '#core/machine-price.ts';
import type { KeptOffer, Price } from '#core/pool.ts';

/** Who the machine is for, as budgets know them. */
export interface Payer {
  readonly use: 'worker' | 'computer';
  /** Absent where it is not known any more. */
  readonly name?: string | undefined;
  readonly source?: string | undefined;
}

export interface Meter {
  readonly payer: Payer;
  readonly prices: readonly Price[];
  readonly startMs: number;
  /** Its cloud showed it stopped then, and it costs no more. */
  readonly stoppedMs?: number | undefined;
  readonly ranBefore?: RanBefore | undefined;
  /** Its cloud has made it, or may have. */
  readonly isMade: boolean;
}

export interface KnownOfMachine {
  readonly payer: Payer;
  readonly offer: KeptOffer | undefined;
  /** What its pool says that it costs. */
  readonly stated: number | undefined;
  readonly trust: PriceTrust | undefined;
  /** Machines of its kind cost nothing. */
  readonly isFree: boolean;
}

/** It counts from the moment that it was promised, so that the sum is never below what its cloud bills. */
export function meterOf(row: MachineRow, { payer, offer, stated, trust, isFree }: KnownOfMachine): Meter {
  const { askedAt, pricePerHour: perHour, createdAt, removal, parked, ranBefore } = row;
  const listed = offer?.prices ?? [];
  const counted = countedPrices({ askedAt, perHour, stated, listed, trust });
  const prices = isFree && counted.length === 0 ? [{ from: askedAt, perHour: 0 }] : counted;
  const isMade = createdAt !== undefined && !removal?.isNotMade;
  const stoppedMs = removal?.isNotMade ? askedAt : parked?.stoppedAt;
  return { payer, prices, startMs: askedAt, stoppedMs, ranBefore, isMade };
}

/** What it has cost since that month began. */
export function costIn(
  monthMs: number,
  nowMs: number,
  { prices, startMs, stoppedMs = nowMs, ranBefore }: Meter,
): number {
  const before = ranBefore?.monthFrom === monthMs ? ranBefore.dollars : 0;
  return before + dollarsBetween(prices, Math.max(startMs, monthMs), Math.min(stoppedMs, nowMs));
}

export const isRunning = ({ stoppedMs }: Meter): boolean => stoppedMs === undefined;

/** Undefined: its price is not known. */
export const perHourNow = ({ prices }: Meter, nowMs: number): number | undefined => priceAt(prices, nowMs);

/** The same of a machine that is no more. */
export function costOfEnded(monthMs: number, ended: EndedMachine, trust: PriceTrust | undefined): number {
  const { askedAt, endedAt, prices = [], listed, stoppedAt: stoppedMs, ranBefore, use } = ended;
  const stated = listed && prices[0]?.perHour;
  const counted =
    stated === undefined ? prices : countedPrices({ askedAt, perHour: stated, stated, listed: listed ?? [], trust });
  const meter = { payer: { use }, prices: counted, startMs: askedAt, stoppedMs, ranBefore, isMade: true };
  return costIn(monthMs, endedAt, meter);
}

import type { Fault } from './fault.ts';
// What is merged into below must be part of every program that reads this file.
import type {} from './feature.ts';
import type { Pool } from './pool.ts';
import { type Row, table } from './table.ts';

/** What a budget does where it would be exceeded: nothing more is launched, or an event says so. */
export const BUDGET_ENDS = ['stop', 'warn'] as const;
export type BudgetEnd = (typeof BUDGET_ENDS)[number];

/** What some machines may cost together, in dollars. */
export interface Budget {
  readonly name: string;
  /** Names of pools, where `*` stands for any text. Without these and without sources it covers all pools and computers. */
  readonly pools?: readonly string[] | undefined;
  /** Sources of pools, by their ids. */
  readonly sources?: readonly string[] | undefined;
  /** The prices of all machines that exist or are promised, together. */
  readonly perHour?: number | undefined;
  /** What was spent since the first of the month, 00:00 UTC. */
  readonly perMonth?: number | undefined;
  readonly end: BudgetEnd;
}

/** What a budget with `stop` leaves to a pool under it. */
export interface BudgetRoom {
  readonly name: string;
  readonly perHour?: number | undefined;
  readonly hourLeft?: number | undefined;
  readonly perMonth?: number | undefined;
  /** After one more hour of all that runs; absent while what was spent is being counted. */
  readonly monthLeft?: number | undefined;
  /** Nothing is left of the month. */
  readonly isSpent?: true | undefined;
}

/** An offer that a budget with `stop` launches nothing from: the price of its machines is not known. */
export interface UnpricedOffer {
  readonly pool: string;
  readonly kind: string;
  readonly offer: string;
}

/** A budget and what its machines cost now. */
export interface BudgetState {
  readonly budget: Budget;
  readonly pools: number;
  readonly computers: number;
  readonly machines: number;
  readonly dollarsPerHour: number;
  readonly machinesWithoutPrice: number;
  /** When the month began. */
  readonly monthFrom: number;
  /** Since then; absent while it is being counted. */
  readonly spent?: number | undefined;
  /** By the end of the month, if all that runs now goes on. */
  readonly forecast?: number | undefined;
  /** When nothing is left of the month at this rate; absent where that is after its end. */
  readonly spentAt?: number | undefined;
  /** Dollars an hour of machines with work in progress, once the month is spent: they finish. */
  readonly busyBeyond?: number | undefined;
  readonly unpriced: readonly UnpricedOffer[];
}

/** Budgets, as the API, pools and computers see them. */
export interface Budgets {
  list(): readonly BudgetState[];
  find(name: string): BudgetState | undefined;
  /** Those with `stop` that a pool is under; undefined: none. In step with every commit before. */
  roomFor(pool: Pool): readonly BudgetRoom[] | undefined;
  /** Whether any budget with `stop` covers computers: then their price must be known. */
  coversComputers(): boolean;
  /** Why no computer of that price is launched now; undefined: one may be. */
  refusesComputer(price: number | undefined): Fault | undefined;
  /** Called with the pools of a budget that has room again, or whose month is spent. */
  onTurn(heard: (pools: Iterable<string>, turn: 'room' | 'spent') => void): void;
}

/** The events that were written for a budget in a month. */
export interface BudgetNotice extends Row {
  /** The name of the budget. */
  readonly id: string;
  readonly monthFrom: number;
  /** The highest share of the month that an event was written for, in percent. */
  readonly percent: number;
}

declare module './feature.ts' {
  interface PublicFeatures {
    readonly budgets?: Budgets;
  }
}

export const budgetTables = {
  budgetNotices: table<BudgetNotice>()({ writer: 'budgets', indexes: {} }),
} as const;

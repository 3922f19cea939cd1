// What a pool would do, cost and keep waiting under another policy or with another demand. Asking changes nothing.
// What is merged into below must be part of every program that reads this file.
import type {} from './feature.ts';
import type { Actor } from './journal.ts';
import type { Pool, PoolSpec } from './pool.ts';
import type { ExpectedLaunches } from './scaling-warnings.ts';
import { type Row, table } from './table.ts';

/** How long sessions waited for a slot: so long or less did half of them, 95 and 99 of 100. */
export interface Waits {
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
}

/** The figures of a run of the model, or of what was. */
export interface PoolFigures {
  readonly sessions: number;
  /** Still waiting at the end; each counts with how long it has waited by then. */
  readonly unplaced: number;
  readonly waits: Waits;
  readonly launches: number;
  readonly refused: number;
  readonly machineHours: number;
  /** Of machines with a price. */
  readonly dollars: number;
  readonly machinesWithoutPrice: number;
}

/** One decision of a policy at a moment. */
export interface ForecastDecision {
  readonly atMs: number;
  readonly did: string;
  readonly why: string;
}

/** What two policies decided last at the same moment; absent where that one has not decided anything yet. */
export interface DecisionDifference {
  readonly atMs: number;
  readonly first?: ForecastDecision | undefined;
  readonly other?: ForecastDecision | undefined;
}

/** Sessions that are accepted together: each takes one slot for so long. */
export interface Arrival {
  readonly atMs: number;
  readonly lastsMs: number;
  /** How many they are; absent: one. */
  readonly slots?: number | undefined;
  /** Lower goes first; absent: 0. */
  readonly priority?: number | undefined;
}

/** The sessions of the pool since then, or others. */
export type ForecastDemand = { readonly sinceMs: number } | GivenDemand;

export type GivenDemand =
  /** Sessions at random times, from now on. */
  | { readonly perHour: number; readonly lastsMs: number; readonly forMs: number }
  /** Those given, in any order. */
  | { readonly arrivals: readonly Arrival[] };

export interface ForecastQuestion {
  readonly pool: Pool;
  readonly demand: ForecastDemand;
  /** Keys of `auto_scaler` that the other policy has otherwise, as documents write them; absent: today's policy alone. */
  readonly set?: Readonly<Record<string, unknown>> | undefined;
  /** The same seed gives the same answer to the same question. */
  readonly seed: number;
}

export interface Forecast {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly sessions: number;
  readonly seed: number;
  /** What really happened; only where the demand is that of the pool. */
  readonly recorded?: PoolFigures | undefined;
  readonly today: PoolFigures;
  readonly other?: OtherPolicy | undefined;
  /** What the answer assumes without a measurement, and what it leaves out. */
  readonly notes: readonly string[];
}

export interface OtherPolicy extends PoolFigures {
  readonly difference?: DecisionDifference | undefined;
  /** Its limits that launch or cost more than they seem to. */
  readonly warnings: readonly string[];
}

/** Who asks: its runs of the model are counted together. */
export interface ForecastCaller {
  readonly token: string;
  readonly signal: AbortSignal;
}

/** What of a definition decides the size of its pool. */
export type SizePolicy = Pick<PoolSpec, 'scaling' | 'schedules' | 'waitTarget'>;

/** A policy that a pool does not have: it is only computed, beside what happens. */
export interface Shadow extends Row {
  /** That of the pool. */
  readonly id: string;
  readonly policy: SizePolicy;
  readonly warnings: readonly string[];
  readonly since: number;
  readonly by: string;
}

/** A shadow with what it has come to since it was set. */
export interface ShadowState {
  readonly shadow: Shadow;
  /** Absent until it has been computed, and while that is not possible. */
  readonly forecast?: Forecast | undefined;
  /** Why there is no newer one. */
  readonly problem?: string | undefined;
}

export interface Forecasts {
  /** Writes nothing and calls no cloud. Throws `invalid` with all that is wrong with the other policy. */
  forecast(question: ForecastQuestion, caller: ForecastCaller): Promise<Forecast>;
  /** Keeps the policy of a pool document beside that of the pool, in place of one that it has. */
  setShadow(pool: Pool, document: string, actor: Actor): Promise<ShadowState>;
  /** None is a success. */
  dropShadow(pool: Pool, actor: Actor): Promise<void>;
  shadowOf(pool: string): ShadowState | undefined;
  /** Computed at once, in a few milliseconds. */
  readonly launchesASession: ExpectedLaunches;
}

export const forecastTables = {
  shadows: table<Shadow>()({ writer: 'foresight', indexes: {} }),
} as const;

declare module './feature.ts' {
  interface PublicFeatures {
    readonly foresight?: Forecasts;
  }
}

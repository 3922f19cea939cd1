// What a pool would do, cost and keep waiting under another policy or with another demand. Asking changes nothing.
// What is merged into below must be part of every program that reads this file.
import type {} from './feature.ts';
import type { Pool } from './pool.ts';

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
  /** What the answer rests on that nobody has measured, and what it leaves out. */
  readonly notes: readonly string[];
}

export interface OtherPolicy extends PoolFigures {
  readonly difference?: DecisionDifference | undefined;
  /** What its limits would surprise the one with who pays. */
  readonly warnings: readonly string[];
}

/** Who asks: its runs of the model are counted together. */
export interface ForecastCaller {
  readonly token: string;
  readonly signal: AbortSignal;
}

export interface Forecasts {
  /** Writes nothing and calls no cloud. Throws `invalid` with all that is wrong with the other policy. */
  forecast(question: ForecastQuestion, caller: ForecastCaller): Promise<Forecast>;
}

declare module './feature.ts' {
  interface PublicFeatures {
    readonly foresight?: Forecasts;
  }
}

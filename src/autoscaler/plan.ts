import type { Scaling } from '#core/pool.ts';
import type { WorkerPhase } from '#core/worker.ts';

/** One worker, as far as the decision needs it. `unknown` is a machine listed without a record. */
export interface WorkerFact {
  readonly name: string;
  readonly phase: WorkerPhase | 'unknown';
  readonly slots: number;
  readonly freeSlots: number;
  /** When it became idle, was asked for, was lost or was first seen, according to its phase. */
  readonly sinceMs: number;
}

/** All that a decision rests on. */
export interface Facts {
  readonly nowMs: number;
  readonly scaling: Scaling;
  readonly workers: readonly WorkerFact[];
  /** Sessions that wait for a slot. */
  readonly queued: number;
  readonly canLaunch: boolean;
  /** False until the cloud has been listed and its unknown machines are settled. */
  readonly isReady: boolean;
  /** Launching failed; not before this time again. */
  readonly coolingUntilMs?: number | undefined;
  readonly coolingWhy?: string | undefined;
  readonly isPaused: boolean;
  readonly isFrozen: boolean;
  readonly isRemoving: boolean;
  /** Machines keep failing to join: nothing is launched until this time. */
  readonly runawayUntilMs?: number | undefined;
  /** Since when there has been a worker too many; what the last plan answered. */
  readonly surplusSinceMs?: number | undefined;
}

export type Action =
  | { readonly do: 'launch'; readonly count: number; readonly why: string }
  | { readonly do: 'remove'; readonly worker: string; readonly why: string };

export interface Plan {
  readonly actions: readonly Action[];
  /** One sentence for people: what and why, or why nothing. */
  readonly why: string;
  /** What would have to change for another decision. */
  readonly unless: string;
  readonly surplusSinceMs?: number | undefined;
  /** When the passing of time alone may change the plan. */
  readonly againAfterMs?: number | undefined;
  /** The figures behind it, for the journal and for `pool why`. */
  readonly figures: Readonly<Record<string, number | boolean>>;
}

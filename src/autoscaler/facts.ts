import type { BudgetRoom } from '#core/budget.ts';
import type { FaultKind } from '#core/fault.ts';
import type { Scaling, UpdatePolicy } from '#core/pool.ts';
import type { Alternative, Reason } from '#core/reason.ts';
import type { SetBy } from '#core/schedule.ts';
import type { PoolNeed } from '#core/source.ts';
import type { WorkerPhase } from '#core/worker.ts';

/**
 * One worker, as far as the decision needs it. `unknown` is a machine listed without a record;
 * `returning` has joined, is away, and is expected back any moment.
 */
export interface WorkerFact {
  readonly name: string;
  readonly phase: WorkerPhase | 'unknown' | 'returning';
  readonly slots: number;
  /** Slots without a session; equal to `slots` where it has none at all. */
  readonly freeSlots: number;
  /** When it became idle, was asked for, was lost or was first seen, according to its phase. */
  readonly sinceMs: number;
  /** The offer that made it. */
  readonly offer?: string | undefined;
  readonly pricePerHour?: number | undefined;
  /** Made from an older definition of the pool. */
  readonly isOutdated?: boolean | undefined;
  /** Parked, and its cloud does not show it at rest yet. */
  readonly isStopping?: boolean | undefined;
}

/** One way to get machines. */
export interface OfferFact {
  readonly id: string;
  readonly pricePerHour?: number | undefined;
  readonly maxAgents?: number | undefined;
  /** Launching from it failed; not before this time again. */
  readonly coolingUntilMs?: number | undefined;
  readonly coolingFault?: FaultKind | undefined;
  readonly coolingWhy?: string | undefined;
  /** What budgets count for a machine of it, where that is not its price. */
  readonly countedPerHour?: number | undefined;
  /** It has no price that budgets count. */
  readonly isUnpriced?: true | undefined;
}

/** All that a decision rests on. Every time in it is on one clock that only grows. */
export interface Facts {
  readonly nowMs: number;
  /** As they are now. */
  readonly scaling: Scaling;
  /** What sets those limits that are not as the pool is defined. */
  readonly setBy?: SetBy | undefined;
  readonly workers: readonly WorkerFact[];
  /** Sessions that wait for a slot. */
  readonly queued: number;
  /** In the order to try them; none for a manual pool, whose agents come and go by themselves. */
  readonly offers: readonly OfferFact[];
  /** What the budgets leave that would stop it; absent: it is under none. */
  readonly budgets?: readonly BudgetRoom[] | undefined;
  /** Absent: `keep`. */
  readonly updatePolicy?: UpdatePolicy | undefined;
  /** False until the cloud has been listed and each of its unknown machines is adopted or gone. */
  readonly isReady: boolean;
  /** Why the cloud could not be listed last time. */
  readonly cloudFault?: { readonly kind: FaultKind; readonly message: string } | undefined;
  readonly isPaused: boolean;
  readonly isFrozen: boolean;
  readonly isRemoving: boolean;
  /** Machines keep failing to join: nothing is launched until this time. */
  readonly runawayUntilMs?: number | undefined;
  /** Machines kept failing to join, and none has since: they are launched one at a time. */
  readonly isProbing?: boolean | undefined;
  /** A lost worker without sessions is given up after this time. */
  readonly lostAfterMs?: number | undefined;
  /** Since when there has been a worker too many; what the last plan answered. */
  readonly surplusSinceMs?: number | undefined;
}

/** One thing that a pass does to a pool, with its reason for people. */
export type Action =
  | { readonly do: 'launch'; readonly offer: string; readonly count: number; readonly why: string }
  /** No new sessions; it goes when its last one has ended. */
  | { readonly do: 'drain'; readonly worker: string; readonly why: string }
  | {
      readonly do: 'remove';
      readonly worker: string;
      readonly why: string;
      /** It outstayed a limit: removed for what it did, not to save money. */
      readonly isOverdue?: boolean | undefined;
    };

/** What one pass does, why, and what would change the decision. */
export interface Plan {
  readonly actions: readonly Action[];
  /** The actions in a few words: `launch 2, remove 1`, or `nothing`. */
  readonly did: string;
  /** Of the actions, or why there are none. */
  readonly reason: Reason;
  /** Further reasons: of some of the actions, or for what was left out. */
  readonly also: readonly Reason[];
  /** One sentence for people: what and why, or why nothing. */
  readonly why: string;
  /** What would have to change for another decision. */
  readonly unless: string;
  /** What was considered and not done. */
  readonly alternatives: readonly Alternative[];
  /** What the pool must have once the actions are done. */
  readonly need: PoolNeed;
  readonly surplusSinceMs?: number | undefined;
  /** When the passing of time alone may change the plan. */
  readonly againAfterMs?: number | undefined;
  /** The figures behind it, for the journal and for `pool why`. */
  readonly figures: Readonly<Record<string, number | boolean>>;
}

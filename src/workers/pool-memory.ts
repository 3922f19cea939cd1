import type { Clock } from '#core/clock.ts';
import type { FaultKind } from '#core/fault.ts';
import type { Scaling } from '#core/pool.ts';
import type { Subject } from '#core/reason.ts';
import type { PoolNeed, PoolTrouble } from '#core/source.ts';
import type { Store } from '#core/store.ts';
import type { Worker } from '#core/worker.ts';

/** What this process remembers of a pool between two passes. A restart forgets it. */
export interface PoolMemory {
  readonly firstMs: number;
  /** Made once: every pass names it, and a new text would be hashed again each time. */
  subject?: Subject;
  /** Of the definition last seen: a change lifts cool-downs. */
  revision?: number;
  /** Once ready, always ready: unknown machines that appear later are not from before the start. */
  isReady: boolean;
  surplusSinceMs?: number | undefined;
  /** A budget kept the last plan from a launch. */
  isHeldByBudget?: boolean | undefined;
  /** What the last plan of this definition asks for; absent until its machines are known. */
  need?: PoolNeed | undefined;
  /** Offers whose launches failed, and until when. */
  readonly cooling: Map<
    string,
    {
      readonly untilMs: number;
      readonly fault: FaultKind;
      readonly why: string;
      readonly cause: string;
      readonly remedy?: string | undefined;
      readonly at: number;
      /** Number of launches in a row that its cloud did not answer. */
      readonly unanswered: number;
    }
  >;
  /** Machines in a row that never joined, and how often the guard has stopped launching for them. */
  failedBoots: number;
  runawayRounds: number;
  runawayUntilMs: number;
  /** What kept it from its machines at the last pass. */
  trouble?: PoolTrouble | undefined;
  /** As its newest worker reported them, for the definition that it was launched for. */
  reportedSlots?: ReportedSlots | undefined;
  /** How long its last machines took until their agents had joined, oldest first. */
  readyMs?: readonly number[] | undefined;
  hasAskedReadyTimes?: boolean | undefined;
  /** Of the definition last seen, and since when it is so: workers that were asked for before may have other slots. */
  slotsPerAgent?: number | undefined;
  slotsSinceAt: number;
  /** Agents of its workers that were refused and have not joined since, oldest first. */
  readonly refused: Map<string, AgentRefusal>;
  /** Of which machine trouble an event was written, until it is over. */
  toldTrouble?: string | undefined;
  passedMs: number;
  /** How long the last pass took. */
  passTookMs: number;
  isPassDue: boolean;
  /** Losses before this time do not count: an operator has thawed since. */
  pardonedMs: number;
  /** When the guard froze it, in this process. */
  frozenMs?: number | undefined;
}

export interface ReportedSlots {
  readonly slots: number;
  /** When its worker was asked for. */
  readonly askedAt: number;
  /** The limits of the pool with these slots: made once, since every decision of the pool writes them. */
  readonly scaling: Scaling;
  /** The limits that they were made from. */
  readonly defined: Scaling;
}

/** Why the server refused an agent, since when, and when last. */
export interface AgentRefusal {
  readonly kind: FaultKind;
  readonly message: string;
  readonly remedy: string;
  readonly sinceMs: number;
  readonly atMs: number;
}

/**
 * A worker that is away or no longer listed. Its loss is compared with what there was when it was noticed: a pool or a
 * fleet that shrinks on purpose later makes no mass loss of it.
 */
export interface Loss {
  readonly sinceMs: number;
  /** How many workers its pool and the fleet had then. */
  readonly ofPool: number;
  readonly ofFleet: number;
}

export interface Losses {
  readonly byWorker: ReadonlyMap<string, Loss>;
  /** Which part of the fleet they were, each when it was noticed: with many pools the guard cannot add up all of them at each pass. */
  readonly share: number;
}

export interface PoolMemories {
  /** What is remembered of a pool; reading keeps nothing. */
  read(pool: string): Readonly<PoolMemory>;
  /** The same to write to. */
  of(pool: string): PoolMemory;
  /** By pool: what the guard against mass loss of the fleet counts. */
  readonly lost: ReadonlyMap<string, Losses>;
  /** By pool: since when something keeps it from its machines. */
  readonly troubled: ReadonlyMap<string, number>;
  /** What keeps a pool from its machines now; nothing, where all is well. */
  observeTrouble(pool: string, trouble: PoolTrouble | undefined): void;
  /** How many they are in all pools. */
  countLost(): number;
  /** The workers of a pool that are lost now, with since when, and how many it and the fleet have. */
  observeLost(pool: string, lost: ReadonlyMap<string, number>, now: Pick<Loss, 'ofPool' | 'ofFleet'>): void;
  forgetLost(worker: Worker): void;
}

/** Of a pool that nothing is known of. */
export function newMemory(clock: Clock): PoolMemory {
  return {
    firstMs: clock.monotonic(),
    isReady: false,
    cooling: new Map(),
    failedBoots: 0,
    runawayRounds: 0,
    runawayUntilMs: Number.NEGATIVE_INFINITY,
    refused: new Map(),
    slotsSinceAt: Number.NEGATIVE_INFINITY,
    passedMs: Number.NEGATIVE_INFINITY,
    passTookMs: 0,
    isPassDue: false,
    pardonedMs: Number.NEGATIVE_INFINITY,
  };
}

export function rememberPools(store: Store, clock: Clock): PoolMemories {
  const memories = new Map<string, PoolMemory>();
  const lost = new Map<string, { byWorker: Map<string, Loss>; share: number }>();
  const troubled = new Map<string, number>();
  let count = 0;
  store.onChange('pools', (after, _before, id) => {
    if (after) return;
    memories.delete(id);
    troubled.delete(id);
  });

  function of(pool: string): PoolMemory {
    let memory = memories.get(pool);
    if (!memory) {
      memory = newMemory(clock);
      memories.set(pool, memory);
    }
    return memory;
  }

  return {
    lost,
    troubled,
    read: (pool) => memories.get(pool) ?? newMemory(clock),
    of,
    observeTrouble(pool, trouble) {
      const before = memories.get(pool)?.trouble;
      of(pool).trouble = trouble;
      if (!trouble) return void troubled.delete(pool);
      // Other words for the same trouble do not make it younger.
      const isOther = trouble.kind !== before?.kind || trouble.reason !== before.reason;
      if (isOther || !troubled.has(pool)) troubled.set(pool, clock.now());
    },
    countLost: () => count,
    observeLost(pool, found, now) {
      if (found.size === 0 && lost.size === 0) return;
      const known = lost.get(pool);
      count += found.size - (known?.byWorker.size ?? 0);
      if (found.size === 0) return void lost.delete(pool);
      const byWorker = new Map<string, Loss>();
      let share = 0;
      for (const [id, sinceMs] of found) {
        const loss = { ...(known?.byWorker.get(id) ?? now), sinceMs };
        byWorker.set(id, loss);
        share += 1 / loss.ofFleet;
      }
      lost.set(pool, { byWorker, share });
    },
    forgetLost({ pool, id }) {
      const losses = lost.get(pool);
      const loss = losses?.byWorker.get(id);
      if (!losses || !loss) return;
      losses.byWorker.delete(id);
      losses.share -= 1 / loss.ofFleet;
      count -= 1;
      if (losses.byWorker.size === 0) lost.delete(pool);
    },
  };
}

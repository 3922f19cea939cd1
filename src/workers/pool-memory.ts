import type { Clock } from '#core/clock.ts';
import type { FaultKind } from '#core/fault.ts';
import type { Machine } from '#core/provider.ts';
import type { Store } from '#core/store.ts';

/** A listed machine that bears no mark and has no record. */
export interface UnknownMachine {
  readonly machine: Machine;
  readonly offer: string;
  readonly sinceMs: number;
  isDeleting: boolean;
}

/** What this process remembers of a pool between two passes. A restart forgets it. */
export interface PoolMemory {
  readonly firstMs: number;
  /** Of the definition last seen: a change lifts cool-downs. */
  revision?: number;
  /** Once ready, always: what shows up later is not from before. */
  isReady: boolean;
  surplusSinceMs?: number | undefined;
  /** Offers whose launches failed, and until when. */
  readonly cooling: Map<
    string,
    { readonly untilMs: number; readonly fault: FaultKind; readonly why: string; readonly at: number }
  >;
  /** Machines in a row that never joined, and how often the guard has stopped launching for them. */
  failedBoots: number;
  runawayRounds: number;
  runawayUntilMs: number;
  readonly unknown: Map<string, UnknownMachine>;
  passedMs: number;
  isPassDue: boolean;
  /** Losses up to this time do not count: an operator has seen them. */
  pardonedMs: number;
  /** When the guard froze it, in this process. */
  frozenMs?: number | undefined;
}

export interface PoolMemories {
  of(pool: string): PoolMemory;
  /** The pools for which a listing may change anything: some worker is not where it should be. */
  readonly waiting: Set<string>;
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
    unknown: new Map(),
    passedMs: Number.NEGATIVE_INFINITY,
    isPassDue: false,
    pardonedMs: Number.NEGATIVE_INFINITY,
  };
}

export function rememberPools(store: Store, clock: Clock): PoolMemories {
  const memories = new Map<string, PoolMemory>();
  const waiting = new Set<string>();
  store.onChange('pools', (after, _before, id) => {
    if (after) return;
    memories.delete(id);
    waiting.delete(id);
  });
  return {
    waiting,
    of(pool) {
      let memory = memories.get(pool);
      if (!memory) {
        memory = newMemory(clock);
        memories.set(pool, memory);
        waiting.add(pool);
      }
      return memory;
    },
  };
}

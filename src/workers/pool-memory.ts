import type { Clock } from '#core/clock.ts';
import type { FaultKind } from '#core/fault.ts';
import type { Subject } from '#core/reason.ts';
import type { PoolTrouble } from '#core/source.ts';
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
  /** Offers whose launches failed, and until when. */
  readonly cooling: Map<
    string,
    { readonly untilMs: number; readonly fault: FaultKind; readonly why: string; readonly at: number }
  >;
  /** Machines in a row that never joined, and how often the guard has stopped launching for them. */
  failedBoots: number;
  runawayRounds: number;
  runawayUntilMs: number;
  /** What kept it from its machines at the last pass. */
  trouble?: PoolTrouble | undefined;
  passedMs: number;
  /** How long the last pass took. */
  passTookMs: number;
  isPassDue: boolean;
  /** Losses before this time do not count: an operator has thawed since. */
  pardonedMs: number;
  /** When the guard froze it, in this process. */
  frozenMs?: number | undefined;
}

/** Workers that are away or no longer listed, with since when. */
export type Lost = ReadonlyMap<string, number>;

export interface PoolMemories {
  /** What is remembered of a pool; reading keeps nothing. */
  read(pool: string): Readonly<PoolMemory>;
  /** The same to write to. */
  of(pool: string): PoolMemory;
  /** By pool: what the guard against mass loss of the fleet counts. */
  readonly lost: ReadonlyMap<string, Lost>;
  /** How many they are in all pools. */
  countLost(): number;
  observeLost(pool: string, lost: Lost): void;
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
    passedMs: Number.NEGATIVE_INFINITY,
    passTookMs: 0,
    isPassDue: false,
    pardonedMs: Number.NEGATIVE_INFINITY,
  };
}

export function rememberPools(store: Store, clock: Clock): PoolMemories {
  const memories = new Map<string, PoolMemory>();
  const lost = new Map<string, Map<string, number>>();
  let count = 0;
  store.onChange('pools', (after, _before, id) => {
    if (!after) memories.delete(id);
  });
  return {
    lost,
    read: (pool) => memories.get(pool) ?? newMemory(clock),
    of(pool) {
      let memory = memories.get(pool);
      if (!memory) {
        memory = newMemory(clock);
        memories.set(pool, memory);
      }
      return memory;
    },
    countLost: () => count,
    observeLost(pool, found) {
      if (found.size === 0 && lost.size === 0) return;
      count += found.size - (lost.get(pool)?.size ?? 0);
      if (found.size > 0) lost.set(pool, new Map(found));
      else lost.delete(pool);
    },
    forgetLost({ pool, id }) {
      const names = lost.get(pool);
      if (!names?.delete(id)) return;
      count -= 1;
      if (names.size === 0) lost.delete(pool);
    },
  };
}

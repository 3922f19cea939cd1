import type { PoolReason } from '#autoscaler/reasons.ts';
import { type Clock, MINUTE_MS } from '#core/clock.ts';
import type { Pool } from '#core/pool.ts';
import { poolOfSubject } from '#core/reason.ts';
import type { Change, Store } from '#core/store.ts';
import type { FaultDraws } from '../faults.ts';
import type { Invariants } from '../invariants.ts';
import { isHeld } from './pools.ts';

/** What a pool has ready, counted from the rows and not by its own plan. */
export interface Readiness {
  /** Free slots, here or on their way, beyond the queue. */
  readonly idleSlots: number;
  /** Workers that serve or soon will. */
  readonly size: number;
  /** Workers that exist or may exist. */
  readonly total: number;
  /** Slots of a worker that could go without breaking a limit. */
  readonly isSurplus: boolean;
}

export function readinessOf({ view }: Store, { id, spec }: Pool): Readiness {
  const { slotsPerAgent, minIdleSlots, minAgents } = spec.scaling;
  let idleSlots = view.sessions.count('unmatched', id) - view.sessions.count('queue', id);
  let size = 0;
  let total = 0;
  let smallest = Number.POSITIVE_INFINITY;
  for (const worker of view.workers.by('pool', id)) {
    total += 1;
    if (worker.removal || worker.drain || worker.parked) continue;
    const slots = view.agents.get(worker.id)?.slots ?? slotsPerAgent;
    const sessions = view.sessions.count('worker', worker.id);
    size += 1;
    idleSlots += slots - sessions;
    if (sessions === 0) smallest = Math.min(smallest, slots);
  }
  return { idleSlots, size, total, isSurplus: size > minAgents && idleSlots - smallest >= minIdleSlots };
}

/** Whether it lacks workers that it could have. */
export function isShort({ spec }: Pool, { idleSlots, size, total }: Readiness): boolean {
  const { minIdleSlots, minAgents, maxAgents } = spec.scaling;
  return total < maxAgents && (idleSlots < minIdleSlots || size < minAgents);
}

export interface IdleLaws {
  /** Looks at some pools every minute, where nothing has gone wrong for so long that all must have come right again. */
  watch(store: Store, isAlive: () => boolean): void;
  /** Right before they are applied to memory. */
  committing(changes: readonly Change[]): void;
}

const EVERY_MS = 60_000;
const MOST_POOLS_A_LOOK = 50;
// Each decision takes a moment, and the next session may come in it.
const LOOKS = 3;
const BETWEEN_LOOKS_MS = 1_500;

// The longest boot timeout, after the longest wait that a fault can cause.
const RIGHT_AGAIN_MS = 30 * MINUTE_MS;

// A pool whose machines did not join launches one at a time, however long ago that was.
const GUARDED: ReadonlySet<string> = new Set<PoolReason>(['boot-failures', 'probing']);

export interface IdleOptions {
  readonly invariants: Invariants;
  readonly clock: Clock;
  /** Nothing ever goes wrong here. */
  readonly isFair: boolean;
  readonly draws: Pick<FaultDraws, 'quietMs'>;
}

export function idleLaws({ invariants, clock, isFair, draws }: IdleOptions): IdleLaws {
  const guarded = new Set<string>();

  const mustBeRight = (store: Store, id: string): boolean =>
    isFair || (draws.quietMs() > RIGHT_AGAIN_MS && !isHeld(store, id) && !guarded.has(id));

  function look(store: Store, id: string, looksLeft: number): void {
    const pool = store.view.pools.get(id);
    if (!pool || pool.removal || pool.spec.offers.length === 0 || !mustBeRight(store, id)) return;
    const readiness = readinessOf(store, pool);
    const isKept = !isShort(pool, readiness);
    if (!isKept && looksLeft > 1) {
      clock.alarm(BETWEEN_LOOKS_MS, () => look(store, id, looksLeft - 1));
      return;
    }
    invariants.holds(
      'idle-kept',
      isKept,
      () => `pool ${id} has ${readiness.idleSlots} slots idle or coming and ${readiness.total} workers`,
    );
  }

  return {
    committing(changes) {
      for (const change of changes) {
        if (!('append' in change) || change.append !== 'decisions') continue;
        const { subject, reason, also = [] } = change.row;
        const pool = poolOfSubject(subject) ?? '';
        if ([reason, ...also].some((each) => GUARDED.has(each?.code ?? ''))) guarded.add(pool);
        else guarded.delete(pool);
      }
    },
    watch(store, isAlive) {
      guarded.clear();
      let next = 0;
      // Kept while it is the same: there are many, and they change seldom.
      let kept: readonly Pool[] | undefined;
      store.onChange('pools', () => {
        kept = undefined;
      });
      const again = (): void => {
        if (!isAlive()) return;
        kept ??= [...store.view.pools.all()];
        const pools = kept;
        for (let count = Math.min(pools.length, MOST_POOLS_A_LOOK); count > 0; count--) {
          next = (next + 1) % pools.length;
          look(store, pools[next]?.id ?? '', LOOKS);
        }
        clock.alarm(EVERY_MS, again);
      };
      clock.alarm(EVERY_MS, again);
    },
  };
}

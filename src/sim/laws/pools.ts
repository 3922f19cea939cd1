import type { PoolReason } from '#autoscaler/reasons.ts';
import type { Clock } from '#core/clock.ts';
import { readMark } from '#core/mark.ts';
import type { Pool } from '#core/pool.ts';
import { poolOfSubject } from '#core/reason.ts';
import type { Change, Store } from '#core/store.ts';
import { FLEET, type Worker } from '#core/worker.ts';
import type { Invariants } from '../invariants.ts';

/** How pools grow and shrink, in one life of the server. */
export interface PoolLaws {
  watch(store: Store, isAlive: () => boolean): void;
  /** Right before they are applied to memory. */
  committing(changes: readonly Change[]): void;
}

// Demand that comes later than this may well want back what was given up.
const FLAP_MS = 60_000;

const SAVINGS: ReadonlySet<string> = new Set<PoolReason>(['above-max-idle', 'idle-decay']);

/** Frozen or paused. */
export const isHeld = ({ view }: Store, pool: string): boolean =>
  view.freezes.get(FLEET) !== undefined ||
  view.freezes.get(pool) !== undefined ||
  view.pools.get(pool)?.pausedAt !== undefined;

function isOutdated({ view }: Store, id = ''): boolean {
  const { offer, pool = '' } = view.workers.get(id) ?? {};
  return offer !== undefined && view.pools.get(pool)?.spec.offers.some((each) => each.id === offer) === false;
}

export function poolLaws(invariants: Invariants, clock: Clock): PoolLaws {
  const savedMs = new Map<string, number>();
  // Workers that were removed to save money.
  const saved = new Set<string>();
  // The pool that the changes which are being committed remove workers of for that reason, and no other.
  let saving: string | undefined;

  /** Whatever makes room or wish for another worker: then it is no flapping. */
  const demand = (pool: string): void => void savedMs.delete(pool);

  function holdsStill(store: Store, pool: string, what: string): void {
    invariants.holds('held-still', !isHeld(store, pool), () => `${what} in pool ${pool}, which is frozen or paused`);
  }

  function launched(store: Store, { id, pool }: { id: string; pool: string }): void {
    holdsStill(store, pool, `launch ${id}`);
    if (isAnyAway(store, pool)) return;
    const agoMs = clock.monotonic() - (savedMs.get(pool) ?? Number.NEGATIVE_INFINITY);
    invariants.holds(
      'no-flapping',
      agoMs > FLAP_MS,
      () => `pool ${pool} launches ${Math.round(agoMs / 1_000)} s after it removed a worker to save money`,
    );
  }

  /** One that was expected back counts for a while, and then no more: what takes its place is no flapping. */
  function isAnyAway({ view }: Store, pool: string): boolean {
    for (const { id, joinedAt, removal } of view.workers.by('pool', pool)) {
      if (joinedAt !== undefined && !removal && !view.agents.get(id)) return true;
    }
    return false;
  }

  /** Mass loss keeps no pool that is being removed and has no session left. */
  function isLeaving({ view }: Store, pool: string): boolean {
    const { removal, pausedAt } = view.pools.get(pool) ?? {};
    const isByHand = [view.freezes.get(pool), view.freezes.get(FLEET)].some((freeze) => freeze?.automatic === false);
    return removal !== undefined && pausedAt === undefined && !isByHand && view.sessions.count('pool', pool) === 0;
  }

  function removed(store: Store, { id, pool }: Worker): void {
    if (!isLeaving(store, pool)) holdsStill(store, pool, `removal of ${id}`);
    if (pool !== saving) return demand(pool);
    saved.add(id);
    savedMs.set(pool, clock.monotonic());
  }

  function workerChanged(store: Store, after: Worker | undefined, before: Worker | undefined): void {
    const pool = after?.pool ?? before?.pool ?? '';
    if (!after) {
      if (!saved.delete(before?.id ?? '')) demand(pool);
    } else if (after.removal && before && !before.removal) {
      removed(store, after);
    } else if (after.drain && !before?.drain) demand(pool);
  }

  const poolChanged = (after: Pool | undefined, before: Pool | undefined, id: string): void => {
    if (after?.spec !== before?.spec) demand(id);
  };

  return {
    committing(changes) {
      saving = undefined;
      for (const change of changes) {
        if (!('append' in change) || change.append !== 'decisions') continue;
        const { subject, reason, also = [] } = change.row;
        if (SAVINGS.has(reason?.code ?? '') && also.length === 0) saving = poolOfSubject(subject);
      }
    },
    watch(store, isAlive) {
      savedMs.clear();
      saved.clear();
      const whileAlive =
        <A extends unknown[]>(hear: (...heard: A) => void) =>
        (...heard: A): void => {
          if (isAlive()) hear(...heard);
        };
      store.onChange('pools', whileAlive(poolChanged));
      store.onChange(
        'launches',
        whileAlive((after, before) => {
          if (after && !before) launched(store, { id: after.id, pool: readMark(after.mark).owner });
        }),
      );
      store.onChange(
        'workers',
        whileAlive((after, before) => workerChanged(store, after, before)),
      );
      store.onChange(
        'agents',
        whileAlive((after, before) => {
          if (before && !after) demand(before.owner);
          // Until it joined it was taken for one with as many slots as its pool's definition says now.
          if (after && after.slots !== store.view.pools.get(after.owner)?.spec.scaling.slotsPerAgent)
            demand(after.owner);
        }),
      );
      store.onChange(
        'sessions',
        whileAlive((after, before) => {
          if (after && after.worker === undefined && before?.worker !== undefined) demand(after.pool);
          if (after && !before) demand(after.pool);
          // One of an older definition is replaced when it has nothing left to do, which is not known before.
          if (!after && before && isOutdated(store, before.worker)) demand(before.pool);
        }),
      );
    },
  };
}

import { Fault } from '#core/fault.ts';
import type { Actor } from '#core/journal.ts';
import type { Pool } from '#core/pool.ts';
import { sessionsOn } from '#core/pool-counts.ts';
import { type Change, drop, put, type Store } from '#core/store.ts';
import { FLEET, type Freeze, isFrozen, thawCommand } from '#core/worker.ts';
import type { WorkersContext } from './context.ts';
import type { Loss } from './pool-memory.ts';

const MASS_SHARE = 0.3;
const MASS_COUNT = 3;
// Of adding shares: three of ten are no mass loss, though three times 0.1 is more than 0.3.
const ROUNDING = 1e-9;

/** Losses that count as one, each a share of what there was when it happened. */
interface Lost {
  readonly count: number;
  readonly share: number;
  /** The most that there were at one of them. */
  readonly here: number;
}

const NONE: Lost = { count: 0, share: 0, here: 0 };

const isMass = ({ count, share }: Lost): boolean => count >= MASS_COUNT && share > MASS_SHARE + ROUNDING;

function addUp(losses: Iterable<Loss>, of: 'ofPool' | 'ofFleet'): Lost {
  let count = 0;
  let share = 0;
  let here = 0;
  for (const loss of losses) {
    count += 1;
    share += 1 / Math.max(1, loss[of]);
    here = Math.max(here, loss[of]);
  }
  return { count, share, here };
}

/** Since when losses count as one: the window before now, or before the freeze that they caused. */
function lossesCountFrom({ store, clock, times, pools }: WorkersContext, scope: string): number {
  const { frozenMs, pardonedMs } = pools.read(scope);
  if (store.view.freezes.get(scope)?.automatic) return (frozenMs ?? Number.NEGATIVE_INFINITY) - times.lossWindowMs;
  return Math.max(pardonedMs, clock.monotonic() - times.lossWindowMs);
}

/**
 * Whether nothing may be done for a pool: it is paused or frozen. Mass loss keeps no pool that is being removed and has no
 * session left: nobody's work is at stake, and its writer waits. A person who freezes may mean just that removal.
 */
export function isPoolHeld(store: Store, id: string): boolean {
  const pool = store.view.pools.get(id);
  return pool?.pausedAt !== undefined || (isFrozen(store, id) && !mayLeaveFrozen(store, id, pool));
}

function mayLeaveFrozen(store: Store, id: string, pool: Pool | undefined): boolean {
  if (pool && !pool.removal) return false;
  const { freezes, sessions, workers } = store.view;
  const isByHand = [freezes.get(id), freezes.get(FLEET)].some((freeze) => freeze?.automatic === false);
  if (isByHand || sessions.count('pool', id) > 0) return false;
  return Iterator.from(workers.by('pool', id)).every((worker) => sessionsOn(store, worker.id) === 0);
}

/** Stops all action of a pool, or of the fleet, until thawed. */
export async function freeze(
  context: WorkersContext,
  scope: string,
  by: { why: string; actor: Actor },
): Promise<Freeze> {
  if (scope !== FLEET && !context.store.view.pools.get(scope)) throw new Fault('missing', `There is no pool ${scope}.`);
  const { why, actor } = by;
  const row: Freeze = { id: scope, at: context.clock.now(), why, by: actor.who, automatic: false };
  await context.store.commit([
    put('freezes', row),
    scopeEvent(context, scope, {
      verb: 'frozen',
      message: `Frozen: ${why}. To thaw it, run \`${thawCommand(nameOf(context, scope))}\`.`,
      actor,
    }),
  ]);
  return row;
}

/** Lets a pool or the fleet act again; losses before the thaw no longer count towards the threshold. */
export async function thaw(context: WorkersContext, scope: string, actor: Actor): Promise<void> {
  if (!context.store.view.freezes.get(scope)) {
    const name = scope === FLEET ? 'The fleet' : `Pool ${context.store.view.pools.get(scope)?.name ?? scope}`;
    throw new Fault('missing', `${name} is not frozen.`, { remedy: '' });
  }
  pardon(context, scope);
  await context.store.commit([
    drop('freezes', scope),
    scopeEvent(context, scope, { verb: 'thawed', message: 'Thawed.', actor }),
  ]);
}

/** The name of a frozen pool; undefined for the fleet. */
const nameOf = ({ store }: WorkersContext, scope: string): string | undefined =>
  scope === FLEET ? undefined : (store.view.pools.get(scope)?.name ?? scope);

function pardon(context: WorkersContext, scope: string): void {
  const nowMs = context.clock.monotonic();
  context.pools.of(scope).pardonedMs = nowMs;
  if (scope !== FLEET) return;
  for (const pool of context.store.view.pools.all()) context.pools.of(pool.id).pardonedMs = nowMs;
}

function scopeEvent(
  context: WorkersContext,
  scope: string,
  { verb, message, actor }: { verb: string; message: string; actor?: Actor },
): Change {
  if (scope === FLEET) return context.journal.event({ kind: `fleet.${verb}`, subject: FLEET, message }, actor);
  const name = context.store.view.pools.get(scope)?.name ?? scope;
  return context.journal.event({ kind: `pool.${verb}`, subject: `pool/${name}`, pool: scope, message }, actor);
}

/** Freezes a pool or the fleet on mass loss, and thaws it when the workers have reconnected; returns when to look again. */
export function guardAgainstMassLoss(context: WorkersContext, pool: string): number {
  const { freezes } = context.store.view;
  guard(context, pool, lostOfPool(context, pool));
  const isFleetHeld = freezes.get(FLEET)?.automatic === true;
  // Most often there are none at all.
  if (context.pools.countLost() >= MASS_COUNT || isFleetHeld) guard(context, FLEET, lostOfFleet(context, isFleetHeld));
  const isHeld = freezes.get(pool)?.automatic === true || freezes.get(FLEET)?.automatic === true;
  return isHeld && !isGraceOver(context) ? graceEndMs(context) : Number.POSITIVE_INFINITY;
}

const graceEndMs = ({ owned, times }: WorkersContext): number => owned.base.startedMs + times.reconnectGraceMs;
const isGraceOver = (context: WorkersContext): boolean => context.clock.monotonic() >= graceEndMs(context);

/**
 * A pool that is being removed wants no worker back, and waits for all of them to be gone: a namespace that is deleted
 * takes its pods along, and a freeze would keep its pools for ever.
 */
function isLeaving({ store }: WorkersContext, id: string): boolean {
  const pool = store.view.pools.get(id);
  return pool === undefined || pool.removal !== undefined;
}

function lostOfPool(context: WorkersContext, pool: string): Lost {
  const losses = context.pools.lost.get(pool);
  if (!losses || isLeaving(context, pool)) return NONE;
  const fromMs = lossesCountFrom(context, pool);
  return addUp(
    losses.byWorker.values().filter(({ sinceMs }) => sinceMs > fromMs),
    'ofPool',
  );
}

/** One pool alone has its own freeze; the fleet's is for losses that cross pools, and ends when all of them are made good. */
function lostOfFleet(context: WorkersContext, isHeld: boolean): Lost {
  const staying = [...context.pools.lost].filter(([pool]) => !isLeaving(context, pool)).map(([, losses]) => losses);
  const all = { count: 0, share: 0, here: 0 };
  for (const { byWorker, share } of staying) {
    all.count += byWorker.size;
    all.share += share;
  }
  if (isHeld || !isMass(all)) return all;
  const fromMs = lossesCountFrom(context, FLEET);
  const lately = staying.map(({ byWorker }) => [...byWorker.values()].filter(({ sinceMs }) => sinceMs > fromMs));
  const isAcross = lately.filter(({ length }) => length > 0).length > 1;
  return isAcross ? addUp(lately.flat(), 'ofFleet') : NONE;
}

function guard(context: WorkersContext, scope: string, lost: Lost): void {
  const row = context.store.view.freezes.get(scope);
  const memory = context.pools.of(scope);
  if (!row && isMass(lost)) {
    const { count, here } = lost;
    memory.frozenMs = context.clock.monotonic();
    const why = `${count} of ${here} workers disconnected at once`;
    context.log('warn', 'mass loss: launching, deleting and requeueing stopped', { scope, vanished: count, here });
    context.owned.base.commit([
      put('freezes', { id: scope, at: context.clock.now(), why, by: 'muster', automatic: true }),
      scopeEvent(context, scope, {
        verb: 'frozen',
        message: `Frozen: ${why}. Muster deletes and requeues nothing until they reconnect. If they are gone for good, run \`${thawCommand(nameOf(context, scope))}\`.`,
      }),
    ]);
    return;
  }
  // In the grace period after a start no worker counts as lost yet, so none can count as reconnected.
  if (!row?.automatic || isMass(lost) || !(isGraceOver(context) || memory.frozenMs !== undefined)) return;
  memory.frozenMs = undefined;
  context.owned.base.commit([
    drop('freezes', scope),
    scopeEvent(context, scope, {
      verb: 'thawed',
      message: 'Thawed: the workers have reconnected, or their pools are being removed.',
    }),
  ]);
}

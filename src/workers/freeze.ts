import { Fault } from '#core/fault.ts';
import type { Actor } from '#core/journal.ts';
import { type Change, drop, put } from '#core/store.ts';
import { FLEET, type Freeze } from '#core/worker.ts';
import type { WorkersContext } from './context.ts';
import { lossesCountFrom, type Survey } from './survey.ts';

const MASS_SHARE = 0.3;
const MASS_COUNT = 3;

const isMass = (lost: number, here: number): boolean => lost >= MASS_COUNT && lost > MASS_SHARE * here;

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
    scopeEvent(context, scope, { verb: 'frozen', message: `Frozen: ${why}.`, actor }),
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
export function guardAgainstMassLoss(context: WorkersContext, pool: string, survey: Survey): number {
  const { freezes, workers } = context.store.view;
  guard(context, pool, { lost: isLeaving(context, pool) ? 0 : survey.lostLately, here: survey.here });
  const isFleetHeld = freezes.get(FLEET)?.automatic === true;
  const lost = countLost(context);
  if (lost >= MASS_COUNT || isFleetHeld) {
    guard(context, FLEET, { lost: isFleetHeld ? lost : lostOfFleet(context), here: workers.size });
  }
  const isHeld = freezes.get(pool)?.automatic === true || freezes.get(FLEET)?.automatic === true;
  return isHeld && !isGraceOver(context) ? graceEndMs(context) : Number.POSITIVE_INFINITY;
}

const graceEndMs = ({ owned, times }: WorkersContext): number => owned.base.startedMs + times.reconnectGraceMs;
const isGraceOver = (context: WorkersContext): boolean => context.clock.monotonic() >= graceEndMs(context);

/**
 * A pool that is being removed wants no worker back, and waits for all of them to be gone: a namespace that is deleted
 * takes its pods along, and a freeze would keep its pools for ever.
 */
const isLeaving = ({ store }: WorkersContext, pool: string): boolean =>
  store.view.pools.get(pool)?.removal !== undefined;

function countLost(context: WorkersContext): number {
  let count = context.pools.countLost();
  if (count === 0) return 0;
  for (const [pool, lost] of context.pools.lost) if (isLeaving(context, pool)) count -= lost.size;
  return count;
}

/** One pool alone has its own freeze; the fleet's is for losses that cross pools. */
function lostOfFleet(context: WorkersContext): number {
  if (!isMass(countLost(context), context.store.view.workers.size)) return 0;
  const fromMs = lossesCountFrom(context, FLEET);
  let pools = 0;
  let count = 0;
  for (const [pool, lost] of context.pools.lost) {
    if (isLeaving(context, pool)) continue;
    const lately = [...lost.values()].filter((sinceMs) => sinceMs > fromMs).length;
    if (lately > 0) pools += 1;
    count += lately;
  }
  return pools > 1 ? count : 0;
}

function guard(context: WorkersContext, scope: string, { lost, here }: { lost: number; here: number }): void {
  const row = context.store.view.freezes.get(scope);
  const memory = context.pools.of(scope);
  if (!row && isMass(lost, here)) {
    memory.frozenMs = context.clock.monotonic();
    const why = `${lost} of ${here} workers disconnected at once`;
    context.log('warn', 'mass loss: launching, deleting and requeueing stopped', { scope, vanished: lost, here });
    context.owned.base.commit([
      put('freezes', { id: scope, at: context.clock.now(), why, by: 'muster', automatic: true }),
      scopeEvent(context, scope, {
        verb: 'frozen',
        message: `Frozen: ${why}; Muster deletes and requeues nothing until they reconnect or someone thaws it.`,
      }),
    ]);
    return;
  }
  // In the grace period after a start no worker counts as lost yet, so none can count as reconnected.
  if (!row?.automatic || isMass(lost, here) || !(isGraceOver(context) || memory.frozenMs !== undefined)) return;
  memory.frozenMs = undefined;
  context.owned.base.commit([
    drop('freezes', scope),
    scopeEvent(context, scope, {
      verb: 'thawed',
      message: 'Thawed: the workers have reconnected, or their pools are being removed.',
    }),
  ]);
}

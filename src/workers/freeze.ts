import { Fault } from '#core/fault.ts';
import type { Actor } from '#core/journal.ts';
import { type Change, drop, put } from '#core/store.ts';
import { FLEET, type Freeze } from '#core/worker.ts';
import type { Kit } from './kit.ts';
import { lossesCountFrom, type Survey } from './survey.ts';

const MASS_SHARE = 0.3;
const MASS_COUNT = 3;

const isMass = (vanished: number, here: number): boolean => vanished >= MASS_COUNT && vanished > MASS_SHARE * here;

/** Whether all action of a pool stands still: its own freeze, or the fleet's. */
export function isFrozen({ store }: Kit, pool: string): boolean {
  return store.view.freezes.get(FLEET) !== undefined || store.view.freezes.get(pool) !== undefined;
}

/** Stops all action of a pool, or of the fleet, until thawed. */
export async function freeze(kit: Kit, scope: string, by: { why: string; actor: Actor }): Promise<Freeze> {
  if (scope !== FLEET && !kit.store.view.pools.get(scope)) throw new Fault('missing', `There is no pool ${scope}.`);
  const { why, actor } = by;
  const row: Freeze = { id: scope, at: kit.clock.now(), why, by: actor.who, automatic: false };
  await kit.store.commit([
    put('freezes', row),
    told(kit, scope, { verb: 'frozen', message: `Frozen: ${why}.`, actor }),
  ]);
  return row;
}

/** Lets a pool or the fleet act again; what has vanished by now is not held against it any more. */
export async function thaw(kit: Kit, scope: string, actor: Actor): Promise<void> {
  if (!kit.store.view.freezes.get(scope)) {
    const name = scope === FLEET ? 'The fleet' : `Pool ${kit.store.view.pools.get(scope)?.name ?? scope}`;
    throw new Fault('missing', `${name} is not frozen.`, { remedy: 'Nothing needs to be done.' });
  }
  pardon(kit, scope);
  await kit.store.commit([drop('freezes', scope), told(kit, scope, { verb: 'thawed', message: 'Thawed.', actor })]);
}

function pardon(kit: Kit, scope: string): void {
  const nowMs = kit.clock.monotonic();
  kit.memoryOf(scope).pardonedMs = nowMs;
  if (scope !== FLEET) return;
  for (const pool of kit.store.view.pools.all()) kit.memoryOf(pool.id).pardonedMs = nowMs;
}

function told(
  kit: Kit,
  scope: string,
  { verb, message, actor }: { verb: string; message: string; actor?: Actor },
): Change {
  if (scope === FLEET) return kit.journal.event({ kind: `fleet.${verb}`, subject: FLEET, message }, actor);
  const name = kit.store.view.pools.get(scope)?.name ?? scope;
  return kit.journal.event({ kind: `pool.${verb}`, subject: `pool/${name}`, pool: scope, message }, actor);
}

/** Freezes a pool or the fleet when too much of it vanishes at once, and thaws it by itself when that is back; answers when to look again. */
export function guardAgainstMassLoss(kit: Kit, pool: string, survey: Survey): number {
  const { freezes, workers } = kit.store.view;
  guard(kit, pool, { vanished: survey.vanished, here: survey.here });
  const isFleetHeld = freezes.get(FLEET)?.automatic === true;
  if (kit.vanished.size >= MASS_COUNT || isFleetHeld) {
    guard(kit, FLEET, { vanished: isFleetHeld ? kit.vanished.size : lostOfFleet(kit), here: workers.size });
  }
  const isHeld = [pool, FLEET].some((scope) => freezes.get(scope)?.automatic);
  return isHeld && !isGraceOver(kit) ? graceEndMs(kit) : Number.POSITIVE_INFINITY;
}

const graceEndMs = ({ startedMs, times }: Kit): number => startedMs + times.reconnectGraceMs;
const isGraceOver = (kit: Kit): boolean => kit.clock.monotonic() >= graceEndMs(kit);

/** One pool alone has its own freeze; the fleet's is for losses that cross pools. */
function lostOfFleet(kit: Kit): number {
  if (!isMass(kit.vanished.size, kit.store.view.workers.size)) return 0;
  const fromMs = lossesCountFrom(kit, FLEET);
  const pools = new Set<string>();
  let lost = 0;
  for (const { pool, sinceMs } of kit.vanished.values()) {
    if (sinceMs <= fromMs) continue;
    lost += 1;
    pools.add(pool);
  }
  return pools.size > 1 ? lost : 0;
}

function guard(kit: Kit, scope: string, { vanished, here }: { vanished: number; here: number }): void {
  const row = kit.store.view.freezes.get(scope);
  const memory = kit.memoryOf(scope);
  if (!row && isMass(vanished, here)) {
    memory.frozenMs = kit.clock.monotonic();
    const why = `${vanished} of ${here} workers vanished at once`;
    kit.log('warn', 'mass loss, all action stops', { scope, vanished, here });
    kit.commit([
      put('freezes', { id: scope, at: kit.clock.now(), why, by: 'muster', automatic: true }),
      told(kit, scope, {
        verb: 'frozen',
        message: `Frozen: ${why}; nothing is deleted or started again until they return or someone thaws it.`,
      }),
    ]);
    return;
  }
  // During the grace after a start nothing counts as away yet, so nothing can be said to be back.
  if (!row?.automatic || isMass(vanished, here) || !(isGraceOver(kit) || memory.frozenMs !== undefined)) return;
  memory.frozenMs = undefined;
  kit.commit([drop('freezes', scope), told(kit, scope, { verb: 'thawed', message: 'Thawed: they are back.' })]);
}

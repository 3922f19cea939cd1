// Idle machines that are stopped and kept: the next launch wakes one of them in place of making another.
import { Fault, type FaultKind, retryDelayMs } from '#core/fault.ts';
import type { MachineRow, RanBefore } from '#core/machine.ts';
import { countedPrices, dollarsBetween } from '#core/machine-price.ts';
import { monthFrom } from '#core/month.ts';
import type { Machine, Outcome } from '#core/provider.ts';
import type { Change } from '#core/store.ts';
import { listedOf, type OwnedMachines } from './owned-machines.ts';
import { beginCall, callAgreed, type PendingCall } from './pending-call.ts';
import { removalOf } from './removal.ts';

type Order = 'suspend' | 'resume';

/** Decides for each machine in turn whether it is parked instead of deleted. */
export function parkingSpaces<R extends MachineRow>(owned: OwnedMachines<R>, owner: string): (row: R) => boolean {
  const taken = new Map<string, number>();
  const countOf = (offer: string): number =>
    taken.get(offer) ?? parkedOf(owned, owner).filter((row) => row.offer === offer).length;
  return (row) => {
    const parking = row.offer === undefined ? undefined : owned.base.clouds.parkingOf(row.offer);
    if (!parking || row.offer === undefined || row.joinedAt === undefined || !owned.keepsParked(owner)) return false;
    if (owned.isOutdated(row) || isTooOld(owned, row, parking.maxAgeMs)) return false;
    const count = countOf(row.offer);
    if (count >= parking.most) return false;
    taken.set(row.offer, count + 1);
    return true;
  };
}

const parkedOf = <R extends MachineRow>(owned: OwnedMachines<R>, owner: string): R[] =>
  [...owned.rowsOf(owner)].filter((row) => row.parked && !row.removal && owned.isWanted(row));

function isTooOld(
  { base }: Pick<OwnedMachines, 'base'>,
  row: MachineRow,
  maxAgeMs = Number.POSITIVE_INFINITY,
): boolean {
  return base.clock.now() - (row.createdAt ?? row.askedAt) >= maxAgeMs;
}

/** Changes that park a machine. The caller has checked in the same turn that nothing runs there. */
export function parkOf<R extends MachineRow>(owned: OwnedMachines<R>, row: R, why: string): Change[] {
  owned.calls.parkings.delete(row.id);
  const event = owned.event(row, { kind: 'parking', message: `Parking the machine: ${why}.` });
  return [owned.put({ ...row, parked: { at: owned.base.clock.now() } }), event];
}

/**
 * What commits that parked machines are woken, those parked last first; only such as their cloud shows stopped. One that
 * there was no room for stays where it was made: for a while another is made in its place, maybe in another zone.
 */
export function wake<R extends MachineRow>(
  owned: OwnedMachines<R>,
  owner: string,
  { offer, count, why }: { offer: string; count: number; why: string },
): { readonly count: number; readonly changes: Change[] } {
  const { clouds, clock } = owned.base;
  if (!clouds.parkingOf(offer)) return { count: 0, changes: [] };
  const chosen = parkedOf(owned, owner)
    .filter((row) => row.offer === offer && !owned.isOutdated(row))
    .filter((row) => listedOf(owned, row)?.state === 'suspended' && !hadNoRoom(owned, row))
    .toSorted((a, b) => (b.parked?.at ?? 0) - (a.parked?.at ?? 0))
    .slice(0, count);
  const changes = chosen.flatMap((before) => {
    owned.calls.parkings.delete(before.id);
    owned.observations.observeFirst(before.id, { missedFromMs: clock.monotonic(), hasBeenListed: true });
    const renewed = {
      askedAt: clock.now(),
      pricePerHour: owned.priceOf(owner, offer),
      ranBefore: ranBefore(owned, before),
    };
    const row: R = { ...before, ...renewed, parked: undefined, joinedAt: undefined, isWaking: true };
    return [owned.put(row), owned.event(row, { kind: 'parking', message: `Waking the machine: ${why}.` })];
  });
  return { count: chosen.length, changes };
}

function hadNoRoom<R extends MachineRow>({ base, observations }: OwnedMachines<R>, row: R): boolean {
  const { noRoomMs = Number.NEGATIVE_INFINITY } = observations.of(row);
  return base.clock.monotonic() - noRoomMs < base.times.noRoomMs;
}

/** Suspends parked machines, resumes woken ones, and removes those parked for nothing; returns when to look again. */
export function keepParked<R extends MachineRow>(
  owned: OwnedMachines<R>,
  owner: string,
  { parked, waking }: { readonly parked: readonly R[]; readonly waking: readonly R[] },
): number {
  if (parked.length + waking.length === 0) return Number.POSITIVE_INFINITY;
  const kept = parked.filter((row) => !row.removal && owned.isWanted(row));
  const vain = owned.keepsParked(owner) ? inVain(owned, kept) : new Map<R, string>();
  if (vain.size > 0) owned.base.commit([...vain].flatMap(([row, why]) => removalOf(owned, row, why)));
  noteStopped(owned, kept);
  const toStop = kept.filter((row) => !vain.has(row) && stateOf(owned, row) === 'running');
  const toStart = waking.filter((row) => !row.removal && isStopped(stateOf(owned, row)));
  return Math.min(order(owned, 'suspend', toStop), order(owned, 'resume', toStart), nextTooOld(owned, kept));
}

/** From now on it costs nothing: durable, so that a restart does not count the time again. */
function noteStopped<R extends MachineRow>(owned: OwnedMachines<R>, parked: readonly R[]): void {
  const stoppedAt = owned.base.clock.now();
  const stopped = parked.flatMap((row) => {
    const now =
      row.parked && !row.parked.stoppedAt && stateOf(owned, row) === 'suspended' ? owned.get(row.id) : undefined;
    return now?.parked && !now.removal ? [owned.put({ ...now, parked: { ...now.parked, stoppedAt } })] : [];
  });
  if (stopped.length > 0) owned.base.commit(stopped);
}

/** What it has cost this month until it was stopped: its row then begins anew. */
function ranBefore<R extends MachineRow>(owned: OwnedMachines<R>, row: R): RanBefore {
  const { store, clock } = owned.base;
  const { askedAt, pricePerHour: perHour, offer = '', parked, ranBefore: before } = row;
  const owner = owned.ownerOf(row);
  const monthBegan = monthFrom(clock.now());
  const prices = countedPrices({
    askedAt,
    perHour,
    stated: owned.statedPrice(owner, offer),
    listed: store.view.offers.get(offer)?.prices ?? [],
    trust: store.view.sources.get(owned.ownerNamed(owner)?.source ?? '')?.prices,
  });
  const ran = dollarsBetween(prices, Math.max(monthBegan, askedAt), parked?.stoppedAt ?? clock.now());
  return { monthFrom: monthBegan, dollars: ran + (before?.monthFrom === monthBegan ? before.dollars : 0) };
}

/** When the first of them will be too old. */
function nextTooOld<R extends MachineRow>({ base: { clouds, clock } }: OwnedMachines<R>, parked: readonly R[]): number {
  let againAtMs = Number.POSITIVE_INFINITY;
  for (const { offer = '', createdAt, askedAt } of parked) {
    const maxAgeMs = clouds.parkingOf(offer)?.maxAgeMs;
    const leftMs = maxAgeMs === undefined ? Number.POSITIVE_INFINITY : (createdAt ?? askedAt) + maxAgeMs - clock.now();
    if (leftMs > 0) againAtMs = Math.min(againAtMs, clock.monotonic() + leftMs);
  }
  return againAtMs;
}

function stateOf<R extends MachineRow>(owned: OwnedMachines<R>, row: R): Machine['state'] | undefined {
  const state = listedOf(owned, row)?.state;
  return state === 'creating' ? 'running' : state;
}

const isStopped = (state: Machine['state'] | undefined): boolean => state === 'suspended' || state === 'suspending';

function inVain<R extends MachineRow>(owned: OwnedMachines<R>, parked: readonly R[]): Map<R, string> {
  const { clouds } = owned.base;
  const counts = new Map<string, number>();
  const vain = new Map<R, string>();
  for (const row of parked) {
    const offer = row.offer ?? '';
    // Nothing is known of an offer that is not open yet.
    if (clouds.cloudOf(offer) === undefined) continue;
    const parking = clouds.parkingOf(offer);
    const count = (counts.get(offer) ?? 0) + 1;
    if (owned.isOutdated(row)) vain.set(row, `it was made from an older definition of the ${owned.noun}`);
    else if (isTooOld(owned, row, parking?.maxAgeMs)) vain.set(row, 'it was parked for longer than the limit');
    else if (count > (parking?.most ?? 0)) vain.set(row, 'more machines are parked than the limit allows');
    else counts.set(offer, count);
  }
  return vain;
}

/** Calls the cloud for all of them whose turn it is, by offer. */
function order<R extends MachineRow>(owned: OwnedMachines<R>, what: Order, rows: readonly R[]): number {
  const { clock, times } = owned.base;
  const nowMs = clock.monotonic();
  const byOffer = new Map<string, R[]>();
  let againAtMs = Number.POSITIVE_INFINITY;
  for (const row of rows) {
    const call = owned.calls.parkings.get(row.id);
    const notBeforeMs = call?.agreedMs === undefined ? (call?.notBeforeMs ?? 0) : call.agreedMs + times.deleteAgainMs;
    if (call?.isCalling) continue;
    if (notBeforeMs > nowMs) againAtMs = Math.min(againAtMs, notBeforeMs);
    else byOffer.set(row.offer ?? '', [...(byOffer.get(row.offer ?? '') ?? []), row]);
  }
  for (const [offer, batch] of byOffer) callParking(owned, { what, offer }, batch);
  return againAtMs;
}

function callParking<R extends MachineRow>(
  owned: OwnedMachines<R>,
  { what, offer }: { what: Order; offer: string },
  rows: readonly R[],
): void {
  const begun = rows.map((row) => ({ row, call: beginCall(owned.calls.parkings, row.id) }));
  const owner = owned.ownerOf(rows[0] as R);
  owned.base.start(what, async () => {
    const outcomes = await callCloud(owned, { what, offer, owner }, rows).catch((thrown): Outcome[] => {
      const fault = Fault.from(thrown);
      return rows.map(({ machine }) => ({ name: machine, fault }));
    });
    const byName = new Map(outcomes.map((outcome) => [outcome.name, outcome]));
    for (const { row, call } of begun) take(owned, what, { row, call, outcome: byName.get(row.machine) });
    owned.base.clouds.refresh(offer);
    owned.poke(owner);
  });
}

async function callCloud<R extends MachineRow>(
  owned: OwnedMachines<R>,
  { what, offer, owner }: { what: Order; offer: string; owner: string },
  rows: readonly R[],
): Promise<readonly Outcome[]> {
  const { store, clouds, stopping } = owned.base;
  await store.durable();
  if (what === 'suspend') for (const row of rows) owned.leaving(row);
  const known = store.view.offers.get(offer);
  if (!known) throw new Fault('invalid', `The offer ${offer} no longer exists.`);
  const machines = rows.flatMap((row) => listedOf(owned, row) ?? []);
  return clouds.park(known, machines, { call: what, owner, signal: stopping });
}

// After these faults a retry is useless.
const HOPELESS: ReadonlySet<FaultKind> = new Set<FaultKind>(['unsupported', 'invalid', 'missing']);
const NO_ROOM: ReadonlySet<FaultKind> = new Set<FaultKind>(['exhausted', 'quota']);

function take<R extends MachineRow>(
  owned: OwnedMachines<R>,
  what: Order,
  { row: { id }, call, outcome }: { row: R; call: PendingCall; outcome: Outcome | undefined },
): void {
  const { clock, stopping, random, log, commit } = owned.base;
  const row = owned.get(id);
  const nowMs = clock.monotonic();
  if (outcome && !outcome.fault) return callAgreed(call, nowMs);
  call.isCalling = false;
  if (stopping.aborted || !row || row.removal) return;
  const fault = outcome?.fault ?? new Fault('unavailable', 'The cloud reported no result for this machine.');
  call.notBeforeMs = nowMs + retryDelayMs(fault, call.attempts, random.next());
  const about = { [owned.noun]: owned.ownerOf(row), [owned.use]: id, order: what };
  log('warn', 'cannot suspend or resume machine', { ...about, kind: fault.kind, error: fault.message });
  // A freeze stops all actions at once, also those after an answer: after the thaw the call is repeated.
  if (HOPELESS.has(fault.kind) && owned.isHeld(owned.ownerOf(row))) call.notBeforeMs = nowMs;
  else if (HOPELESS.has(fault.kind)) commit(removalOf(owned, row, `the cloud refuses to ${what} it: ${fault.message}`));
  else if (what === 'resume' && NO_ROOM.has(fault.kind)) parkAgain(owned, row, fault);
}

/** No capacity to wake it: it stays parked, and the next offer is tried. */
function parkAgain<R extends MachineRow>(owned: OwnedMachines<R>, row: R, fault: Fault): void {
  const { clock, commit } = owned.base;
  if (row.offer !== undefined) owned.launchFailed(owned.ownerOf(row), row.offer, fault);
  owned.observations.observe(row, { noRoomMs: clock.monotonic() });
  const joinedAt = row.createdAt ?? row.askedAt;
  commit([
    owned.put({ ...row, isWaking: undefined, joinedAt, parked: { at: clock.now() } }),
    owned.event(row, { kind: 'parking', message: `Cannot wake the machine: ${fault.message}` }),
  ]);
}

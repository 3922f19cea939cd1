// Idle machines that are stopped and kept: the next launch wakes one of them in place of making another.
import { Fault, type FaultKind, retryDelayMs } from '#core/fault.ts';
import type { MachineRow } from '#core/machine.ts';
import type { Machine, Outcome } from '#core/provider.ts';
import type { Change } from '#core/store.ts';
import { type Asked, listedOf } from './asked.ts';
import { beginCall, callAgreed, type PendingCall } from './pending-call.ts';
import { removalOf } from './removal.ts';

type Order = 'suspend' | 'resume';

/** Decides for each machine in turn whether it is parked instead of deleted. */
export function parkingSpaces<R extends MachineRow>(asked: Asked<R>, owner: string): (row: R) => boolean {
  const taken = new Map<string, number>();
  const countOf = (offer: string): number =>
    taken.get(offer) ?? parkedOf(asked, owner).filter((row) => row.offer === offer).length;
  return (row) => {
    const parking = row.offer === undefined ? undefined : asked.base.clouds.parkingOf(row.offer);
    if (!parking || row.offer === undefined || row.joinedAt === undefined || !asked.keepsParked(owner)) return false;
    if (asked.isOutdated(row) || isTooOld(asked, row, parking.maxAgeMs)) return false;
    const count = countOf(row.offer);
    if (count >= parking.most) return false;
    taken.set(row.offer, count + 1);
    return true;
  };
}

const parkedOf = <R extends MachineRow>(asked: Asked<R>, owner: string): R[] =>
  [...asked.rowsOf(owner)].filter((row) => row.parked && !row.removal && asked.isWanted(row));

function isTooOld({ base }: Pick<Asked, 'base'>, row: MachineRow, maxAgeMs = Number.POSITIVE_INFINITY): boolean {
  return base.clock.now() - (row.createdAt ?? row.askedAt) >= maxAgeMs;
}

/** Changes that park a machine. The caller has checked in the same turn that nothing runs there. */
export function parkOf<R extends MachineRow>(asked: Asked<R>, row: R, why: string): Change[] {
  asked.calls.parkings.delete(row.id);
  const event = asked.event(row, { kind: 'parking', message: `Parking the machine: ${why}.` });
  return [asked.put({ ...row, parked: { at: asked.base.clock.now() } }), event];
}

/**
 * What commits that parked machines are woken, those parked last first; only such as their cloud shows stopped. One that
 * there was no room for stays where it was made: for a while another is made in its place, maybe in another zone.
 */
export function wake<R extends MachineRow>(
  asked: Asked<R>,
  owner: string,
  { offer, count, why }: { offer: string; count: number; why: string },
): { readonly count: number; readonly changes: Change[] } {
  const { clouds, clock } = asked.base;
  if (!clouds.parkingOf(offer)) return { count: 0, changes: [] };
  const chosen = parkedOf(asked, owner)
    .filter((row) => row.offer === offer && !asked.isOutdated(row))
    .filter((row) => listedOf(asked, row)?.state === 'suspended' && !hadNoRoom(asked, row))
    .toSorted((a, b) => (b.parked?.at ?? 0) - (a.parked?.at ?? 0))
    .slice(0, count);
  const changes = chosen.flatMap((before) => {
    asked.calls.parkings.delete(before.id);
    asked.observations.observeFirst(before.id, { missedFromMs: clock.monotonic(), hasBeenListed: true });
    const renewed = { askedAt: clock.now(), pricePerHour: asked.priceOf(owner, offer) };
    const row: R = { ...before, ...renewed, parked: undefined, joinedAt: undefined, isWaking: true };
    return [asked.put(row), asked.event(row, { kind: 'parking', message: `Waking the machine: ${why}.` })];
  });
  return { count: chosen.length, changes };
}

function hadNoRoom<R extends MachineRow>({ base, observations }: Asked<R>, row: R): boolean {
  const { noRoomMs = Number.NEGATIVE_INFINITY } = observations.of(row);
  return base.clock.monotonic() - noRoomMs < base.times.noRoomMs;
}

/** Suspends parked machines, resumes woken ones, and removes those parked for nothing; returns when to look again. */
export function keepParked<R extends MachineRow>(
  asked: Asked<R>,
  owner: string,
  { parked, waking }: { readonly parked: readonly R[]; readonly waking: readonly R[] },
): number {
  if (parked.length + waking.length === 0) return Number.POSITIVE_INFINITY;
  const kept = parked.filter((row) => !row.removal && asked.isWanted(row));
  const vain = asked.keepsParked(owner) ? inVain(asked, kept) : new Map<R, string>();
  if (vain.size > 0) asked.base.commit([...vain].flatMap(([row, why]) => removalOf(asked, row, why)));
  const toStop = kept.filter((row) => !vain.has(row) && stateOf(asked, row) === 'running');
  const toStart = waking.filter((row) => !row.removal && isStopped(stateOf(asked, row)));
  return Math.min(order(asked, 'suspend', toStop), order(asked, 'resume', toStart), nextTooOld(asked, kept));
}

/** When the first of them will be too old. */
function nextTooOld<R extends MachineRow>({ base: { clouds, clock } }: Asked<R>, parked: readonly R[]): number {
  let againAtMs = Number.POSITIVE_INFINITY;
  for (const { offer = '', createdAt, askedAt } of parked) {
    const maxAgeMs = clouds.parkingOf(offer)?.maxAgeMs;
    const leftMs = maxAgeMs === undefined ? Number.POSITIVE_INFINITY : (createdAt ?? askedAt) + maxAgeMs - clock.now();
    if (leftMs > 0) againAtMs = Math.min(againAtMs, clock.monotonic() + leftMs);
  }
  return againAtMs;
}

function stateOf<R extends MachineRow>(asked: Asked<R>, row: R): Machine['state'] | undefined {
  const state = listedOf(asked, row)?.state;
  return state === 'creating' ? 'running' : state;
}

const isStopped = (state: Machine['state'] | undefined): boolean => state === 'suspended' || state === 'suspending';

function inVain<R extends MachineRow>(asked: Asked<R>, parked: readonly R[]): Map<R, string> {
  const { clouds } = asked.base;
  const counts = new Map<string, number>();
  const vain = new Map<R, string>();
  for (const row of parked) {
    const offer = row.offer ?? '';
    // Nothing is known of an offer that is not open yet.
    if (clouds.cloudOf(offer) === undefined) continue;
    const parking = clouds.parkingOf(offer);
    const count = (counts.get(offer) ?? 0) + 1;
    if (asked.isOutdated(row)) vain.set(row, `it was made from an older definition of the ${asked.noun}`);
    else if (isTooOld(asked, row, parking?.maxAgeMs)) vain.set(row, 'it was parked for longer than the limit');
    else if (count > (parking?.most ?? 0)) vain.set(row, 'more machines are parked than the limit allows');
    else counts.set(offer, count);
  }
  return vain;
}

/** Calls the cloud for all of them whose turn it is, by offer. */
function order<R extends MachineRow>(asked: Asked<R>, what: Order, rows: readonly R[]): number {
  const { clock, times } = asked.base;
  const nowMs = clock.monotonic();
  const byOffer = new Map<string, R[]>();
  let againAtMs = Number.POSITIVE_INFINITY;
  for (const row of rows) {
    const call = asked.calls.parkings.get(row.id);
    const notBeforeMs = call?.agreedMs === undefined ? (call?.notBeforeMs ?? 0) : call.agreedMs + times.deleteAgainMs;
    if (call?.isCalling) continue;
    if (notBeforeMs > nowMs) againAtMs = Math.min(againAtMs, notBeforeMs);
    else byOffer.set(row.offer ?? '', [...(byOffer.get(row.offer ?? '') ?? []), row]);
  }
  for (const [offer, batch] of byOffer) callParking(asked, { what, offer }, batch);
  return againAtMs;
}

function callParking<R extends MachineRow>(
  asked: Asked<R>,
  { what, offer }: { what: Order; offer: string },
  rows: readonly R[],
): void {
  const begun = rows.map((row) => ({ row, call: beginCall(asked.calls.parkings, row.id) }));
  const owner = asked.ownerOf(rows[0] as R);
  asked.base.start(what, async () => {
    const outcomes = await callCloud(asked, { what, offer, owner }, rows).catch((thrown): Outcome[] => {
      const fault = Fault.from(thrown);
      return rows.map(({ machine }) => ({ name: machine, fault }));
    });
    const byName = new Map(outcomes.map((outcome) => [outcome.name, outcome]));
    for (const { row, call } of begun) take(asked, what, { row, call, outcome: byName.get(row.machine) });
    asked.base.clouds.refresh(offer);
    asked.poke(owner);
  });
}

async function callCloud<R extends MachineRow>(
  asked: Asked<R>,
  { what, offer, owner }: { what: Order; offer: string; owner: string },
  rows: readonly R[],
): Promise<readonly Outcome[]> {
  const { store, clouds, stopping } = asked.base;
  await store.durable();
  if (what === 'suspend') for (const row of rows) asked.leaving(row);
  const known = store.view.offers.get(offer);
  if (!known) throw new Fault('invalid', `The offer ${offer} no longer exists.`);
  const machines = rows.flatMap((row) => listedOf(asked, row) ?? []);
  return clouds.park(known, machines, { call: what, owner, signal: stopping });
}

// After these faults a retry is useless.
const HOPELESS: ReadonlySet<FaultKind> = new Set<FaultKind>(['unsupported', 'invalid', 'missing']);
const NO_ROOM: ReadonlySet<FaultKind> = new Set<FaultKind>(['exhausted', 'quota']);

function take<R extends MachineRow>(
  asked: Asked<R>,
  what: Order,
  { row: { id }, call, outcome }: { row: R; call: PendingCall; outcome: Outcome | undefined },
): void {
  const { clock, stopping, random, log, commit } = asked.base;
  const row = asked.get(id);
  const nowMs = clock.monotonic();
  if (outcome && !outcome.fault) return callAgreed(call, nowMs);
  call.isCalling = false;
  if (stopping.aborted || !row || row.removal) return;
  const fault = outcome?.fault ?? new Fault('unavailable', 'The cloud reported no result for this machine.');
  call.notBeforeMs = nowMs + retryDelayMs(fault, call.attempts, random.next());
  const about = { [asked.noun]: asked.ownerOf(row), [asked.use]: id, order: what };
  log('warn', 'cannot park or wake machine', { ...about, kind: fault.kind, error: fault.message });
  // A freeze stops all actions at once, also those after an answer: after the thaw the call is repeated.
  if (HOPELESS.has(fault.kind) && asked.isHeld(asked.ownerOf(row))) call.notBeforeMs = nowMs;
  else if (HOPELESS.has(fault.kind)) commit(removalOf(asked, row, `the cloud refuses to ${what} it: ${fault.message}`));
  else if (what === 'resume' && NO_ROOM.has(fault.kind)) parkAgain(asked, row, fault);
}

/** No capacity to wake it: it stays parked, and the next offer is tried. */
function parkAgain<R extends MachineRow>(asked: Asked<R>, row: R, fault: Fault): void {
  const { clock, commit } = asked.base;
  if (row.offer !== undefined) asked.launchFailed(asked.ownerOf(row), row.offer, fault);
  asked.observations.observe(row, { noRoomMs: clock.monotonic() });
  const joinedAt = row.createdAt ?? row.askedAt;
  commit([
    asked.put({ ...row, isWaking: undefined, joinedAt, parked: { at: clock.now() } }),
    asked.event(row, { kind: 'parking', message: `Cannot wake the machine: ${fault.message}` }),
  ]);
}

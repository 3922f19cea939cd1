// A removal, once committed, is final: the delete is repeated until the cloud accepts it, and only then is the row dropped.
import { isAbsent, isGone } from '#clouds/listing.ts';
import { formatDuration } from '#core/duration.ts';
import { Fault, retryDelayMs } from '#core/fault.ts';
import type { MachineRow, Removal } from '#core/machine.ts';
import { readMark } from '#core/mark.ts';
import type { Machine, Outcome } from '#core/provider.ts';
import type { Change } from '#core/store.ts';
import { endingOf } from './ended.ts';
import { isCreating } from './operations.ts';
import { listedOf, type OwnedMachines } from './owned-machines.ts';
import { beginCall, callAgreed, type PendingCall } from './pending-call.ts';
import { isExact, listLagMs } from './times.ts';

const MOST_DELETED_AT_ONCE = 50;

/**
 * Changes that remove a machine; with a fault, because it does not work. The caller has checked in the same turn that no
 * work is lost, or accepts the loss.
 */
export function removalOf<R extends MachineRow>(
  owned: OwnedMachines<R>,
  row: R,
  why: string,
  failure: Pick<Removal, 'fault' | 'isNotMade'> = {},
): Change[] {
  const { clock } = owned.base;
  const { missedFromMs } = owned.observations.of(row);
  // Earlier listings do not count: the machine may still exist, so the cloud must be called.
  if (missedFromMs !== Number.POSITIVE_INFINITY) {
    const fromMs = Math.max(missedFromMs, clock.monotonic() + unlistedLagMs(owned, row));
    owned.observations.observe(row, { missedFromMs: fromMs });
  }
  const event = owned.event(row, { kind: 'removing', message: `Removing the machine: ${withoutStop(why)}.` });
  return [owned.put({ ...row, removal: { at: clock.now(), why, ...failure } }), event];
}

/** A machine that no listing has shown yet may still exist, unless its cloud failed to make it: only later listings can prove that it does not. */
function unlistedLagMs<R extends MachineRow>({ base, observations }: OwnedMachines<R>, row: R): number {
  const isKnown = observations.of(row).hasBeenListed || row.removal?.isNotMade === true;
  return isKnown ? 0 : listLagMs(base, row.offer);
}

/** Deletes the machines of removed rows and drops the rows of those that are gone; returns when to look again. */
export function carryOutRemovals<R extends MachineRow>(owned: OwnedMachines<R>, removing: readonly R[]): number {
  if (removing.length === 0) return Number.POSITIVE_INFINITY;
  const changes: Change[] = [];
  const gone: R[] = [];
  const byOffer = new Map<string, R[]>();
  let againAtMs = Number.POSITIVE_INFINITY;
  for (const row of removing) {
    coolDownFor(owned, row);
    if (isOver(owned, row)) {
      changes.push(...over(owned, row));
      gone.push(row);
    } else if (isToBeCalled(owned, row)) {
      const batch = byOffer.get(row.offer ?? '');
      if (batch) batch.push(row);
      else byOffer.set(row.offer ?? '', [row]);
    } else againAtMs = Math.min(againAtMs, nextLook(owned, row));
  }
  if (changes.length > 0) {
    owned.base.commit(changes, () => {
      for (const { id } of gone) owned.removed(id);
    });
  }
  for (const [offer, rows] of byOffer) deleteAll(owned, offer, rows);
  return againAtMs;
}

/** A late failure counts like a refusal, once in each process that learns of it. */
function coolDownFor<R extends MachineRow>(owned: OwnedMachines<R>, row: R): void {
  const { offer, removal } = row;
  if (offer === undefined || !removal?.isNotMade || !removal.fault || owned.calls.deletions.has(row.id)) return;
  owned.launchFailed(owned.ownerOf(row), offer, removal.fault);
}

/**
 * Certainly gone: after at least one delete call, two listings in a row lack the machine. One is enough where the cloud
 * accepted the call and its listings are never late.
 */
function isOver<R extends MachineRow>(owned: OwnedMachines<R>, row: R): boolean {
  const { base, calls, observations } = owned;
  const deletion = calls.deletions.get(row.id);
  if (!deletion || deletion.isCalling || isLaunching(owned, row) || isCreating(owned, row)) return false;
  const { agreedMs } = deletion;
  if (row.offer === undefined) return agreedMs !== undefined;
  const listing = base.clouds.listing(row.offer);
  if (listing && agreedMs !== undefined && isExact(base, row.offer) && isAbsent(listing, row.machine, agreedMs))
    return true;
  return isGone(listing, row.machine, observations.of(row).missedFromMs);
}

/** While its launch is in flight the machine may still be created: a delete now could be too early. */
const isLaunching = <R extends MachineRow>({ calls }: OwnedMachines<R>, row: R): boolean =>
  calls.launches.get(row.launch ?? '')?.isCalling === true;

function isToBeCalled<R extends MachineRow>(owned: OwnedMachines<R>, row: R): boolean {
  const { base, calls } = owned;
  const deletion = calls.deletions.get(row.id);
  if (isLaunching(owned, row)) return false;
  // A launch that the cloud has not heard of is dropped as a whole, or called first.
  const launch = calls.launches.get(row.launch ?? '');
  if (launch && launch.endedMs === undefined) return false;
  if (!deletion) return true;
  const nowMs = base.clock.monotonic();
  if (deletion.isCalling || nowMs < deletion.notBeforeMs) return false;
  if (deletion.agreedMs === undefined) return true;
  return nowMs - deletion.agreedMs >= base.times.deleteAgainMs && isStill(owned, row);
}

/** Its cloud agreed to delete it, and shows it as if it had not. */
function isStill<R extends MachineRow>(owned: OwnedMachines<R>, row: R): boolean {
  const machine = listedOf(owned, row);
  return machine !== undefined && machine.state !== 'deleting';
}

/** Asks for the second listing where the first does not show it any more; answers when the next call is due, which lies ahead. */
function nextLook<R extends MachineRow>(owned: OwnedMachines<R>, row: R): number {
  const { clock, clouds, times } = owned.base;
  const deletion = owned.calls.deletions.get(row.id);
  // The end of its launch wakes its owner.
  if (!deletion || deletion.isCalling || isLaunching(owned, row)) return Number.POSITIVE_INFINITY;
  const { agreedMs, notBeforeMs } = deletion;
  const listing = clouds.listing(row.offer ?? '');
  if (agreedMs !== undefined && listing && isAbsent(listing, row.machine, agreedMs)) clouds.refresh(row.offer ?? '');
  const dueMs = agreedMs === undefined ? notBeforeMs : agreedMs + times.deleteAgainMs;
  return dueMs > clock.monotonic() ? dueMs : Number.POSITIVE_INFINITY;
}

/** Reasons of pools are clauses; those of computers and the messages of faults are sentences. */
const withoutStop = (why: string): string => why.replace(/\.$/, '');

function over<R extends MachineRow>(owned: OwnedMachines<R>, row: R): Change[] {
  const lifetime = lifetimeOf(owned, row);
  const fault = row.removal?.fault;
  const message = `Machine gone after ${lifetime}: ${withoutStop(row.removal?.why ?? '')}.`;
  const ended = endingOf(owned, row, { how: fault ? 'failed' : 'removed', fault });
  return [...ended, owned.event(row, { kind: 'removed', message, fields: { lifetime } })];
}

/** How long a machine has been there, in whole seconds. */
export function lifetimeOf<R extends MachineRow>({ base }: OwnedMachines<R>, { createdAt, askedAt }: R): string {
  return formatDuration(Math.max(0, Math.round((base.clock.now() - (createdAt ?? askedAt)) / 1_000) * 1_000));
}

function deleteAll<R extends MachineRow>(owned: OwnedMachines<R>, offer: string, rows: readonly R[]): void {
  const { store, clouds } = owned.base;
  const kind = store.view.offers.get(offer)?.kind;
  const most = (kind === undefined ? undefined : clouds.batchOf(kind)) ?? MOST_DELETED_AT_ONCE;
  for (let at = 0; at < rows.length; at += most) deleteBatch(owned, offer, rows.slice(at, at + most));
}

function deleteBatch<R extends MachineRow>(owned: OwnedMachines<R>, offer: string, rows: readonly R[]): void {
  const deletions = rows.map((row) => ({ row, deletion: beginCall(owned.calls.deletions, row.id) }));
  owned.base.start('delete', async () => {
    const outcomes = await callDelete(owned, offer, rows).catch((thrown): Outcome[] => {
      const fault = Fault.from(thrown);
      return rows.map((row) => ({ name: row.machine, fault }));
    });
    const byName = new Map(outcomes.map((outcome) => [outcome.name, outcome]));
    for (const { row, deletion } of deletions) take(owned, { row, deletion, outcome: byName.get(row.machine) });
    // Who has nothing to do until the machines are gone is woken by the listing that shows it.
    if (offer !== '' && deletions.every(isAgreed)) listUntilGone(owned, offer, deletions);
    else for (const owner of new Set(rows.map(owned.ownerOf))) owned.poke(owner);
  });
}

interface Deletion<R extends MachineRow> {
  readonly row: R;
  readonly deletion: PendingCall;
}

const isAgreed = ({ deletion }: { readonly deletion: PendingCall }): boolean =>
  !deletion.isCalling && deletion.agreedMs !== undefined && deletion.attempts === 0;

/**
 * Until the cloud shows them no more it is listed more often than usual. Not at once: a machine takes its time to end, and
 * every machine that goes would cost a listing of the whole account.
 */
function listUntilGone<R extends MachineRow>(
  owned: OwnedMachines<R>,
  offer: string,
  deletions: readonly Deletion<R>[],
): void {
  const { clock, clouds, times, stopping } = owned.base;
  const agreedMs = clock.monotonic();
  const isAwaited = ({ row, deletion }: Deletion<R>): boolean =>
    owned.calls.deletions.get(row.id) === deletion && deletion.agreedMs === agreedMs;
  const look = (): void => {
    const awaited = deletions.filter(isAwaited);
    if (awaited.length === 0 || stopping.aborted) return;
    if (clock.monotonic() - agreedMs >= times.deleteAgainMs) wakeForStill(owned, awaited);
    const dueMs = Math.max(clouds.listing(offer)?.startedMs ?? agreedMs, agreedMs) + times.deletingListMs;
    const leftMs = Math.ceil(dueMs - clock.monotonic());
    // A frozen owner drops no rows, so there is nothing to find out.
    if (leftMs <= 0 && !awaited.every(({ row }) => owned.isHeld(owned.ownerOf(row)))) clouds.refresh(offer);
    clock.alarm(leftMs > 0 ? leftMs : times.deletingListMs, look);
  };
  if (isExact(owned.base, offer)) clouds.refresh(offer);
  look();
}

/** No listing wakes the owner of a machine that stays as it is. */
function wakeForStill<R extends MachineRow>(owned: OwnedMachines<R>, awaited: readonly Deletion<R>[]): void {
  for (const { row } of awaited) if (isStill(owned, row)) owned.poke(owned.ownerOf(row));
}

/** First the agent gets the command to stop, so that it disconnects cleanly; then the cloud is called. */
async function callDelete<R extends MachineRow>(
  owned: OwnedMachines<R>,
  offer: string,
  rows: readonly R[],
): Promise<readonly Outcome[]> {
  const { store, clouds, stopping } = owned.base;
  await store.durable();
  for (const row of rows) owned.leaving(row);
  if (offer === '') return rows.map(({ machine }) => ({ name: machine }));
  const known = store.view.offers.get(offer);
  if (!known) throw new Fault('invalid', `The offer ${offer} no longer exists.`);
  const machines = rows.map((row) => listedOf(owned, row) ?? unlisted(owned, row));
  return clouds.delete(known, machines, { owner: owned.ownerOf(rows[0] as R), signal: stopping });
}

/** As we asked for it. */
function unlisted<R extends MachineRow>({ base, use, ownerOf, observations }: OwnedMachines<R>, row: R): Machine {
  const { machine, launch, offer = '', createdAt, askedAt } = row;
  const launched = base.store.view.launches.get(launch ?? '');
  const mark = launched
    ? readMark(launched.mark)
    : { cluster: base.store.cluster, use, owner: ownerOf(row), shape: offer };
  const id = observations.of(row).listedId;
  return { name: machine, id, mark, createdAt: createdAt ?? askedAt, state: 'running' };
}

function take<R extends MachineRow>(
  owned: OwnedMachines<R>,
  { row, deletion, outcome }: { row: R; deletion: PendingCall; outcome: Outcome | undefined },
): void {
  const { clock, stopping, random, log } = owned.base;
  const nowMs = clock.monotonic();
  if (outcome && !outcome.fault) return callAgreed(deletion, nowMs);
  deletion.isCalling = false;
  if (stopping.aborted) return;
  const fault = outcome?.fault ?? new Fault('unavailable', 'The cloud reported no result for this machine.');
  const waitMs = retryDelayMs(fault, deletion.attempts, random.next());
  deletion.notBeforeMs = nowMs + waitMs;
  const about = { [owned.noun]: owned.ownerOf(row), [owned.use]: row.id, kind: fault.kind, error: fault.message };
  log('warn', 'cannot delete machine', { ...about, attempts: deletion.attempts, waitMs });
}

// Launches whose outcome is not known: committed and not yet called, called without an answer, or left by an earlier process.
import type { Listing } from '#clouds/listing.ts';
import { Fault } from '#core/fault.ts';
import type { LaunchRecord, MachineRow } from '#core/machine.ts';
import { readMark } from '#core/mark.ts';
import { callCreate, MOST_CALLS, made, notMade } from './launch.ts';
import { keepOperations, launchOver } from './operations.ts';
import type { OwnedMachines } from './owned-machines.ts';
import { type PendingLaunch, pendingLaunch } from './pending-call.ts';
import { listLagMs } from './times.ts';
import { claimUnknown } from './unknown.ts';

/** Calls, resolves or repeats the launches of an owner; answers when to look again, on the monotonic clock. */
export function resolveLaunches<R extends MachineRow>(owned: OwnedMachines<R>, owner: string): number {
  const { store, startedMs } = owned.base;
  let againAtMs = Number.POSITIVE_INFINITY;
  if (store.view.launches.count('owner', owner) === 0) return againAtMs;
  for (const record of [...store.view.launches.by('owner', owner)]) {
    const call = pendingLaunch(owned.calls, record.id, startedMs);
    if (!call.isCalling) againAtMs = Math.min(againAtMs, resolve(owned, record, call));
  }
  return againAtMs;
}

function resolve<R extends MachineRow>(owned: OwnedMachines<R>, record: LaunchRecord, call: PendingLaunch): number {
  const rows = (): R[] => record.names.flatMap((name) => owned.get(name) ?? []);
  if (call.endedMs === undefined) return callFirst(owned, record, { call, rows: rows() });
  const found = listed(owned, record, rows().filter(isUnanswered));
  if (found.length > 0) owned.base.commit(found.map(owned.put));
  const pending = rows().filter(isUnanswered);
  if (pending.length > 0) return resolveMissing(owned, record, { call, pending });
  if (!record.operations) owned.base.commit(launchOver(owned, record.id));
  return Number.POSITIVE_INFINITY;
}

const isUnanswered = (row: MachineRow): boolean => row.createdAt === undefined && !row.removal;

/** The cloud was not called yet: machines that are no longer needed are not launched. */
function callFirst<R extends MachineRow>(
  owned: OwnedMachines<R>,
  record: LaunchRecord,
  { call, rows }: { call: PendingLaunch; rows: R[] },
): number {
  if (!rows.some((row) => isUnanswered(row) && owned.isWanted(row))) {
    const why = { kind: 'unavailable', message: 'it was no longer needed' } as const;
    owned.base.commit([...rows.flatMap((row) => notMade(owned, row, why, 'removed')), ...launchOver(owned, record.id)]);
    return Number.POSITIVE_INFINITY;
  }
  if (owned.base.clock.monotonic() < call.notBeforeMs) return call.notBeforeMs;
  callCreate(owned, record);
  return Number.POSITIVE_INFINITY;
}

/** A listed machine was created, whatever the answer was. */
function listed<R extends MachineRow>(owned: OwnedMachines<R>, record: LaunchRecord, pending: readonly R[]): R[] {
  const listing = owned.base.clouds.listing(record.offer);
  return pending.filter((row) => listing?.machines.has(row.machine)).map((row) => made(owned, row));
}

/** What the cloud seems to have made under names of its own choosing. */
function claimed<R extends MachineRow>(owned: OwnedMachines<R>, record: LaunchRecord, pending: readonly R[]): R[] {
  return pending.flatMap((row) => {
    const unknown = claimUnknown(owned, record);
    return unknown === undefined ? [] : [made(owned, row, unknown)];
  });
}

/** Two listings decide: if they show none of its machines the launch is repeated, otherwise missing names are dropped. */
function resolveMissing<R extends MachineRow>(
  owned: OwnedMachines<R>,
  record: LaunchRecord,
  { call, pending }: { call: PendingLaunch; pending: R[] },
): number {
  const { clouds, clock, commit } = owned.base;
  const listing = clouds.listing(record.offer);
  const missedFromMs = (call.endedMs ?? 0) + listLagMs(owned.base, record.offer);
  const nowMs = clock.monotonic();
  if (!isDecided(listing, missedFromMs)) {
    if (nowMs <= missedFromMs) return missedFromMs + 1;
    // Each listing wakes the owner.
    clouds.refresh(record.offer);
    return Number.POSITIVE_INFINITY;
  }
  const found = claimed(owned, record, pending);
  if (found.length > 0) {
    commit(found.map(owned.put));
    return nowMs;
  }
  if (nowMs < call.notBeforeMs) return call.notBeforeMs;
  // Part of it was created or dropped: repeating the same request would launch that part again.
  if (pending.length === record.names.length && call.attempts < MOST_CALLS && !call.refusal) {
    callCreate(owned, record);
    return Number.POSITIVE_INFINITY;
  }
  const fault = call.refusal ?? new Fault('unavailable', 'the cloud did not answer, and does not list the machine');
  owned.launchFailed(readMark(record.mark).owner, record.offer, fault);
  const over = keepOperations(owned, record, { operations: record.operations ?? {}, isAnswered: true });
  commit([...pending.flatMap((row) => notMade(owned, row, fault)), ...over]);
  return Number.POSITIVE_INFINITY;
}

const isDecided = (listing: Listing | undefined, sinceMs: number): boolean =>
  listing?.before !== undefined && listing.before.startedMs > sinceMs;

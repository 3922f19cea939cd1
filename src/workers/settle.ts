// Launches whose outcome is not known: committed and not yet called, called without an answer, or left by an earlier process.
import type { Listing } from '#clouds/listing.ts';
import { Fault } from '#core/fault.ts';
import { put } from '#core/store.ts';
import type { LaunchRecord, Worker } from '#core/worker.ts';
import type { Kit, LaunchState } from './kit.ts';
import { listLagMs } from './lag.ts';
import { callFor, coolOff, failed, MOST_CALLS, made, settled, stateOf } from './launch.ts';
import { claimUnknown } from './unknown.ts';

/** Calls, settles or repeats the launches of a pool; answers when to look again, on the monotonic clock. */
export function settleLaunches(kit: Kit, pool: string): number {
  let againAtMs = Number.POSITIVE_INFINITY;
  for (const record of [...kit.store.view.launches.by('pool', pool)]) {
    const state = stateOf(kit, record.id);
    if (!state.isCalling) againAtMs = Math.min(againAtMs, settleOne(kit, record, state));
  }
  return againAtMs;
}

function settleOne(kit: Kit, record: LaunchRecord, state: LaunchState): number {
  const { view } = kit.store;
  const rows = record.names.flatMap((name) => view.workers.get(name) ?? []);
  if (state.endedMs === undefined) return callFirst(kit, record, { state, rows });
  const found = listed(kit, record, rows.filter(isPending));
  if (found.length > 0) kit.commit(found.map((row) => put('workers', row)));
  const pending = record.names.flatMap((name) => view.workers.get(name) ?? []).filter(isPending);
  if (pending.length > 0) return settleMissing(kit, record, { state, pending });
  kit.commit(settled(kit, record.id));
  return Number.POSITIVE_INFINITY;
}

const isPending = (worker: Worker): boolean => worker.createdAt === undefined && !worker.removal;

/** The cloud has not heard of it yet: nothing need be asked for that nobody wants any more. */
function callFirst(kit: Kit, record: LaunchRecord, { state, rows }: { state: LaunchState; rows: Worker[] }): number {
  if (!rows.some((row) => isPending(row) && !row.drain)) {
    const why = { kind: 'unavailable', message: 'it was not wanted any more' } as const;
    kit.commit([...rows.flatMap((row) => failed(kit, row, why)), ...settled(kit, record.id)]);
    return Number.POSITIVE_INFINITY;
  }
  if (kit.clock.monotonic() < state.notBeforeMs) return state.notBeforeMs;
  callFor(kit, record);
  return Number.POSITIVE_INFINITY;
}

/** What the listing shows was made, whatever became of the answer. */
function listed(kit: Kit, record: LaunchRecord, pending: readonly Worker[]): Worker[] {
  const listing = kit.clouds.listing(record.offer);
  return pending.filter((row) => listing?.machines.has(row.machine)).map((row) => made(kit, row));
}

/** What the cloud seems to have made under names of its own choosing. */
function claimed(kit: Kit, record: LaunchRecord, pending: readonly Worker[]): Worker[] {
  return pending.flatMap((row) => {
    const stranger = claimUnknown(kit, record);
    return stranger === undefined ? [] : [made(kit, row, stranger)];
  });
}

/** Two listings decide: where nothing of it was made the launch is repeated, else the missing names are given up. */
function settleMissing(
  kit: Kit,
  record: LaunchRecord,
  { state, pending }: { state: LaunchState; pending: Worker[] },
): number {
  const listing = kit.clouds.listing(record.offer);
  const missedFromMs = (state.endedMs ?? 0) + listLagMs(kit, record.offer);
  const nowMs = kit.clock.monotonic();
  if (!isDecided(listing, missedFromMs)) {
    if (nowMs <= missedFromMs) return missedFromMs + 1;
    // Each listing wakes the pool.
    kit.clouds.refresh(record.offer);
    return Number.POSITIVE_INFINITY;
  }
  const found = claimed(kit, record, pending);
  if (found.length > 0) {
    kit.commit(found.map((row) => put('workers', row)));
    return nowMs;
  }
  if (nowMs < state.notBeforeMs) return state.notBeforeMs;
  // Part of it was made or given up: the same bytes would ask for that part again.
  if (pending.length === record.names.length && state.tries < MOST_CALLS && !state.refusal) {
    callFor(kit, record);
    return Number.POSITIVE_INFINITY;
  }
  const silence = new Fault('unavailable', 'the cloud did not answer, and does not show it');
  const fault = state.refusal ?? silence;
  coolOff(kit, record, fault);
  kit.commit([...pending.flatMap((row) => failed(kit, row, fault)), ...settled(kit, record.id)]);
  return Number.POSITIVE_INFINITY;
}

const isDecided = (listing: Listing | undefined, sinceMs: number): boolean =>
  listing?.before !== undefined && listing.before.startedMs > sinceMs;

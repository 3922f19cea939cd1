// Launching: names and launch record are committed first, then the cloud is called, then each name is resolved.
import { Fault, isUnclear, retryDelayMs } from '#core/fault.ts';
import { launchNames } from '#core/id.ts';
import type { LaunchRecord, MachineRow } from '#core/machine.ts';
import { readMark, shapeOf } from '#core/mark.ts';
import type { Offer } from '#core/pool.ts';
import type { Boot, Outcome } from '#core/provider.ts';
import { type Change, put } from '#core/store.ts';
import { endingOf } from './ended.ts';
import { keepOffer, keepUncalled } from './offers.ts';
import { isCreating, keepOperations } from './operations.ts';
import type { Base, OwnedMachines } from './owned-machines.ts';
import { newLaunch, type PendingLaunch, pendingLaunch } from './pending-call.ts';

import { firstListingMs } from './times.ts';

const NAMES_IN_ONE_LAUNCH = 50;
/** How often one launch is tried. */
export const MOST_CALLS = 5;

/** What a feature wants of one offer. */
export interface Wanted extends Omit<Boot, 'token'> {
  readonly owner: { readonly id: string; readonly name: string };
  readonly offer: Offer;
  readonly count: number;
  /** The event that goes with each launch. */
  event(record: LaunchRecord): Change;
}

/** Changes to commit before the cloud is called: names that are never reused, and their launch records. */
export function askFor<R extends MachineRow>(owned: OwnedMachines<R>, wanted: Wanted): Change[] {
  const { base, use } = owned;
  const { owner, offer, count } = wanted;
  const changes: Change[] = keepUncalled(base, offer);
  const most = base.clouds.batchOf(offer.kind) ?? NAMES_IN_ONE_LAUNCH;
  for (let left = count; left > 0; left -= most) {
    const names = launchNames(owner, Math.min(left, most), base.random, use);
    changes.push(...launchOf(owned, wanted, names));
  }
  return changes;
}

function launchOf<R extends MachineRow>(owned: OwnedMachines<R>, wanted: Wanted, names: string[]): Change[] {
  const { base, use, observations, calls } = owned;
  const { agentConfig, install, port, endsAt } = wanted;
  const [owner, offer] = [wanted.owner.id, wanted.offer.id];
  const askedAt = base.clock.now();
  const form = base.clouds.formOf(offer);
  const mark = { cluster: base.store.cluster, use, owner, shape: shapeOf(base.offerShape(wanted.offer), form) };
  const record: LaunchRecord = { id: base.nextId(), offer, mark, names, agentConfig, install, port, endsAt, askedAt };
  calls.launches.set(record.id, newLaunch());
  for (const name of names) observations.observeFirst(name);
  const fields = { launch: record.id, offer, askedAt, pricePerHour: owned.priceOf(owner, offer), form };
  const rows = names.map((id) => owned.put(owned.row(owner, { id, machine: id, ...fields })));
  return [put('launches', record), ...rows, wanted.event(record)];
}

/** Calls the cloud for a committed launch. Repeating it makes nothing twice: same id, same bytes. */
export function callCreate<R extends MachineRow>(owned: OwnedMachines<R>, record: LaunchRecord): void {
  const { store, clouds, stopping, startedMs } = owned.base;
  const call = pendingLaunch(owned.calls, record.id, startedMs);
  const mark = readMark(record.mark);
  call.isCalling = true;
  call.attempts += 1;
  owned.base.start('launch', async () => {
    let hasLeft = false;
    let isAllMade = false;
    try {
      const offer = store.view.offers.get(record.offer);
      if (!offer) throw new Fault('invalid', `The offer ${record.offer} no longer exists.`);
      const { id, names, askedAt } = record;
      const launch = { id, mark, names, boot: owned.bootOf(record), askedAt };
      const outcomes = await clouds.create(offer, launch, {
        owner: mark.owner,
        signal: stopping,
        // Durable before the call is sent: the gate waits for that.
        opened: () => commitAny(owned.base, keepOffer(store, offer)),
        leaving: () => (hasLeft = true),
      });
      isAllMade = takeOutcomes(owned, record, believed(call, outcomes));
    } catch (thrown) {
      takeFault(owned, record, { call, fault: Fault.from(thrown), hasLeft });
    } finally {
      call.isCalling = false;
      if (hasLeft) callEnded(owned, record, call);
      // The next listing, or an agent that joins, wakes an owner that has all it asked for.
      if (!isAllMade) owned.poke(mark.owner);
    }
  });
}

function commitAny({ commit }: Base, changes: readonly Change[]): void {
  if (changes.length > 0) commit(changes);
}

function callEnded<R extends MachineRow>(
  owned: OwnedMachines<R>,
  { names, offer }: LaunchRecord,
  call: PendingLaunch,
): void {
  const nowMs = owned.base.clock.monotonic();
  call.calls += 1;
  call.endedMs = nowMs;
  const listedMs = nowMs + firstListingMs(owned.base, offer);
  for (const name of names) {
    const row = owned.get(name);
    if (!row) continue;
    owned.observations.observe(row, { missedFromMs: isCreating(owned, row) ? Number.POSITIVE_INFINITY : listedMs });
  }
}

function takeFault<R extends MachineRow>(
  owned: OwnedMachines<R>,
  record: LaunchRecord,
  { call, fault, hasLeft }: { call: PendingLaunch; fault: Fault; hasLeft: boolean },
): void {
  const { stopping, clock, random, log } = owned.base;
  const { owner } = readMark(record.mark);
  // A call that was never sent counts as refused after enough attempts: another offer may work.
  const isHopeless = !hasLeft && call.calls === 0 && call.attempts >= MOST_CALLS && !stopping.aborted;
  if (!isUnclear(fault.kind) || isHopeless) {
    const outcomes = record.names.map((name) => ({ name, fault }));
    takeOutcomes(owned, record, believed(call, outcomes));
    if (call.refusal) owned.launchFailed(owner, record.offer, call.refusal);
    return;
  }
  if (stopping.aborted) return;
  const about = { [owned.noun]: owner, launch: record.id, kind: fault.kind, error: fault.message, hasLeft };
  log('warn', 'launch outcome unknown', about);
  call.notBeforeMs = clock.monotonic() + retryDelayMs(fault, call.attempts, random.next());
}

/** A refused repeat does not tell the outcome of earlier calls: only listings can. */
function believed(call: PendingLaunch, outcomes: readonly Outcome[]): readonly Outcome[] {
  const refusal = outcomes.find(({ fault }) => fault)?.fault;
  if (call.calls === 0 || !refusal) return outcomes;
  call.refusal = refusal;
  return outcomes.filter(({ fault }) => !fault);
}

/** Resolves each name in the answer; a missing name stays unknown until listings show it or not. Returns whether all were made and are wanted still. */
function takeOutcomes<R extends MachineRow>(
  owned: OwnedMachines<R>,
  record: LaunchRecord,
  outcomes: readonly Outcome[],
): boolean {
  const byName = new Map(outcomes.map((outcome) => [outcome.name, outcome]));
  const operations: Record<string, string> = { ...owned.base.store.view.launches.get(record.id)?.operations };
  const changes: Change[] = [];
  let failure: Fault | undefined;
  for (const name of record.names) {
    const outcome = byName.get(name);
    const row = owned.get(name);
    if (!outcome || !row) continue;
    // A machine whose agent has joined exists, whatever the cloud answers.
    if (!outcome.fault || row.joinedAt !== undefined) {
      changes.push(owned.put(made(owned, row, outcome.machine)));
      if (outcome.operation !== undefined && row.joinedAt === undefined) operations[name] = outcome.operation;
      continue;
    }
    failure = outcome.fault;
    changes.push(...notMade(owned, row, outcome.fault));
  }
  const isResolved = record.names.every((name) => byName.has(name) || !owned.get(name));
  changes.push(...keepOperations(owned, record, { operations, isAnswered: isResolved }));
  const { owner } = readMark(record.mark);
  if (failure) owned.launchFailed(owner, record.offer, failure);
  else if (isResolved) owned.launchAgreed(owner, record.offer);
  owned.base.commit(changes);
  return isResolved && record.names.every((name) => isKept(owned, name));
}

function isKept<R extends MachineRow>(owned: OwnedMachines<R>, name: string): boolean {
  const row = owned.get(name);
  return row !== undefined && !row.removal && owned.isWanted(row);
}

export function made<R extends MachineRow>({ base }: OwnedMachines<R>, row: R, machine = row.machine): R {
  return { ...row, machine, createdAt: row.createdAt ?? base.clock.now() };
}

/** The cloud created no machine of that name, or was not called for it: the row is dropped, and the next plan uses another name. */
export function notMade<R extends MachineRow>(
  owned: OwnedMachines<R>,
  row: R,
  { kind, message }: Pick<Fault, 'kind' | 'message'>,
  how: 'failed' | 'removed' = 'failed',
): Change[] {
  const fields = { fault: kind };
  const ended = endingOf(owned, row, { how, fault: how === 'failed' ? { kind, message } : undefined });
  return [...ended, owned.event(row, { kind: 'failed', message: `Not launched: ${message}`, fields })];
}

/** What commits that the open launches of an owner go by other offers, where there are such. */
export function launchesGoBy<R extends MachineRow>(
  { base }: OwnedMachines<R>,
  owner: string,
  successorOf: (offer: string) => string | undefined,
): Change[] {
  return [...base.store.view.launches.by('owner', owner)].flatMap((launch) => {
    const offer = successorOf(launch.offer);
    return offer === undefined ? [] : [put('launches', { ...launch, offer })];
  });
}

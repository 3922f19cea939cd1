// Clouds agree first and find out afterwards: their operations are checked at one pace for all clouds.
import { Fault, type FaultKind } from '#core/fault.ts';
import { type Again, type Loop, startLoop } from '#core/loop.ts';
import type { LaunchRecord, MachineRow } from '#core/machine.ts';
import { readMark } from '#core/mark.ts';
import type { Outcome, PendingCreate, Use } from '#core/provider.ts';
import type { Change } from '#core/store.ts';
import { keepOperations } from './operations.ts';
import type { Base, OwnedMachines } from './owned-machines.ts';
import { pendingLaunch } from './pending-call.ts';
import { removalOf } from './removal.ts';
import { firstListingMs } from './times.ts';

// A refusal comes soon or not at all: an operation is checked ever less often, after a quarter of its age.
const SOONEST_MS = 1_000;
const LATEST_MS = 10_000;
// Checks must stay cheap for a cloud, which is asked at most once in `SOONEST_MS`; the other operations have their turn then.
const MOST_AT_ONCE = 5;

/** Asking again later may help; after any other fault nothing will be known, and the listing decides. */
const PASSING: ReadonlySet<FaultKind> = new Set<FaultKind>(['unavailable', 'throttled', 'internal', 'conflict']);

/** One operation of a launch, with the names that it is to make. */
interface Operation {
  readonly owned: OwnedMachines;
  readonly record: LaunchRecord;
  readonly pending: readonly PendingCreate[];
  readonly lastMs: number;
  readonly dueMs: number;
  checked(atMs: number): void;
}

export function startChecks(base: Base, features: ReadonlyMap<Use, OwnedMachines>): Pick<Loop, 'stop'> {
  const { store, clock, random, log, clouds } = base;
  const loop = startLoop({ name: 'operations', clock, random, log, concurrency: 64, reconcile: pass });
  /** By cloud: when it was last asked. */
  const askedMs = new Map<string, number>();
  const look = (offer: string): void => {
    const cloud = clouds.cloudOf(offer);
    if (cloud !== undefined) loop.poke(cloud);
  };
  const stopListening = store.onChange('launches', (after) => {
    if (after?.operations) look(after.offer);
  });
  clouds.onOpen(look);

  /** Checks what is due in one cloud. */
  async function pass(cloud: string, signal: AbortSignal): Promise<Again | undefined> {
    const nowMs = clock.monotonic();
    for (const { owned, record } of launchesIn(base, features, cloud)) closeKnown(owned, record);
    const open = openIn(base, features, cloud);
    if (open.length === 0) return undefined;
    const gapMs = (askedMs.get(cloud) ?? Number.NEGATIVE_INFINITY) + SOONEST_MS - nowMs;
    if (gapMs > 0) return { afterMs: Math.ceil(gapMs), isUntried: true };
    const due = open
      .filter(({ dueMs }) => dueMs <= nowMs)
      .toSorted((a, b) => a.lastMs - b.lastMs)
      .slice(0, MOST_AT_ONCE);
    if (due.length > 0) askedMs.set(cloud, nowMs);
    const byOffer = Map.groupBy(due, ({ record }) => record.offer);
    const checks = [...byOffer].map(([offer, operations]) => checkAll(base, offer, { operations, signal }));
    const faults = (await Promise.all(checks)).flatMap((fault) => fault ?? []);
    if (faults[0]) throw faults[0];
    if (due.length > 0) return { afterMs: SOONEST_MS };
    return { afterMs: Math.ceil(Math.min(...open.map(({ dueMs }) => dueMs)) - nowMs) };
  }

  return {
    async stop() {
      stopListening();
      await loop.stop();
    },
  };
}

/** The launches that this cloud is not done with. */
function* launchesIn(base: Base, features: ReadonlyMap<Use, OwnedMachines>, cloud: string) {
  for (const record of base.store.view.launches.all()) {
    if (!record.operations || base.clouds.cloudOf(record.offer) !== cloud) continue;
    const owned = features.get(readMark(record.mark).use);
    if (owned) yield { owned, record, operations: Object.entries(record.operations) };
  }
}

/** A machine whose agent has joined is made; one without a row is no longer wanted. */
function closeKnown(owned: OwnedMachines, { id, operations = {} }: LaunchRecord): void {
  const isKnown = (row: MachineRow | undefined): boolean => !row || row.joinedAt !== undefined;
  const pending = Object.entries(operations).flatMap(([name, operation]) =>
    isKnown(owned.get(name)) ? [{ name, operation }] : [],
  );
  if (pending.length > 0) take(owned, id, { pending, byName: new Map() });
}

/** The open operations in that cloud. A frozen owner's wait: how they ended would change its machines. */
function openIn(base: Base, features: ReadonlyMap<Use, OwnedMachines>, cloud: string): Operation[] {
  const nowMs = base.clock.monotonic();
  const found: Operation[] = [];
  for (const { owned, record, operations } of launchesIn(base, features, cloud)) {
    const { owner } = readMark(record.mark);
    const { endedMs = nowMs, checkedMs } = pendingLaunch(owned.calls, record.id, base.startedMs);
    const all = operations.map(([name, operation]) => ({ name, operation }));
    for (const [operation, pending] of Map.groupBy(all, (one) => one.operation)) {
      const lastMs = checkedMs.get(operation) ?? endedMs;
      const waitMs = owned.isHeld(owner) ? LATEST_MS : Math.max(SOONEST_MS, (nowMs - endedMs) / 4);
      const sinceMs = owned.isHeld(owner) ? nowMs : lastMs;
      const checked = (atMs: number): void => void checkedMs.set(operation, atMs);
      found.push({ owned, record, pending, lastMs, dueMs: sinceMs + Math.min(LATEST_MS, waitMs), checked });
    }
  }
  return found;
}

/** Asks about the operations of one offer; answers the fault after which they are to be asked about again. */
async function checkAll(
  base: Base,
  offer: string,
  { operations, signal }: { operations: readonly Operation[]; signal: AbortSignal },
): Promise<Fault | undefined> {
  const known = base.store.view.offers.get(offer);
  const nowMs = base.clock.monotonic();
  for (const one of operations) one.checked(nowMs);
  const owner = `check of ${offer}`;
  const pending = operations.flatMap((one) => one.pending);
  let outcomes: readonly Outcome[] = [];
  try {
    if (known) outcomes = await base.clouds.check(known, pending, { owner, signal });
  } catch (thrown) {
    const fault = Fault.from(thrown);
    if (signal.aborted || PASSING.has(fault.kind)) return fault;
    base.log('warn', 'cannot check what a cloud is making, its listing decides', { offer, error: fault.message });
  }
  const byName = new Map(outcomes.map((outcome) => [outcome.name, outcome]));
  const byLaunch = Map.groupBy(operations, ({ record }) => record.id);
  for (const [id, some] of byLaunch) {
    const owned = (some[0] as Operation).owned;
    take(owned, id, { pending: some.flatMap((one) => one.pending), byName });
  }
  return undefined;
}

interface Checked {
  readonly pending: readonly PendingCreate[];
  readonly byName: ReadonlyMap<string, Outcome>;
}

function take(owned: OwnedMachines, launch: string, { pending, byName }: Checked): void {
  const record = owned.base.store.view.launches.get(launch);
  if (!record?.operations) return;
  const operations = { ...record.operations };
  const changes: Change[] = [];
  let isChanged = false;
  for (const { name, operation } of pending) {
    const outcome = byName.get(name);
    if (operations[name] !== operation || outcome?.operation === operation) continue;
    isChanged = true;
    if (outcome?.operation !== undefined) operations[name] = outcome.operation;
    else {
      delete operations[name];
      const row = owned.get(name);
      if (row) changes.push(...ended(owned, row, outcome?.fault));
    }
  }
  if (!isChanged) return;
  const isAnswered = record.names.every((name) => isAnsweredFor(owned.get(name)));
  owned.base.commit([...changes, ...keepOperations(owned, record, { operations, isAnswered })]);
  owned.poke(readMark(record.mark).owner);
}

const isAnsweredFor = (row: MachineRow | undefined): boolean =>
  !row || row.createdAt !== undefined || row.removal !== undefined;

/** From here on listings decide about a machine that was made; what is left of one that was not is deleted. */
function ended(owned: OwnedMachines, row: MachineRow, fault: Fault | undefined): Change[] {
  const { base, observations } = owned;
  const nowMs = base.clock.monotonic();
  // A machine whose agent has joined exists, whatever the cloud says.
  const isFailed = fault !== undefined && row.joinedAt === undefined;
  const fromMs = isFailed ? nowMs : nowMs + firstListingMs(base, row.offer ?? '');
  observations.observe(row, { missedFromMs: Math.min(observations.of(row).missedFromMs, fromMs) });
  // A deletion before that may have found nothing to delete.
  if (row.removal && !isFailed && owned.calls.deletions.get(row.id)?.isCalling === false)
    owned.calls.deletions.delete(row.id);
  if (!isFailed || row.removal) return [];
  const { kind, message, remedy } = fault;
  return removalOf(owned, row, `${kind}, ${message}`, { fault: { kind, message, remedy }, isNotMade: true });
}

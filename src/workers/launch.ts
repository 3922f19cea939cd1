import { Fault, isUnclear, retryDelayMs } from '#core/fault.ts';
import { launchNames } from '#core/id.ts';
import { readMark, shapeOf } from '#core/mark.ts';
import type { Offer, Pool } from '#core/pool.ts';
import type { Launch, Outcome } from '#core/provider.ts';
import { type Change, drop, put } from '#core/store.ts';
import type { LaunchRecord, Worker } from '#core/worker.ts';
import { bootFailed, coolDown, type Failure } from './boots.ts';
import type { Kit, LaunchState } from './kit.ts';
import { firstListingMs } from './lag.ts';
import { priceOf } from './offers.ts';
import { wake } from './parking.ts';

const NAMES_IN_ONE_LAUNCH = 50;
/** How often one launch is tried. */
export const MOST_CALLS = 5;

/** What to commit before any cloud hears of it: names that are never used again, and the launches that ask for them. */
export function askFor(
  kit: Kit,
  pool: Pool,
  { offer: id, count, why }: { offer: string; count: number; why: string },
): Change[] {
  const offer = pool.spec.offers.find((one) => one.id === id);
  if (!offer) return [];
  const changes: Change[] = kit.store.view.offers.get(offer.id) ? [] : [put('offers', offer)];
  const woken = wake(kit, pool, { offer: offer.id, count, why });
  changes.push(...woken.changes);
  const most = kit.clouds.batchOf(offer.kind) ?? NAMES_IN_ONE_LAUNCH;
  for (let left = count - woken.count; left > 0; left -= most) {
    const names = launchNames(pool, Math.min(left, most), kit.random);
    changes.push(...launchOf(kit, pool, { made: offer, names, why }));
  }
  return changes;
}

function launchOf(kit: Kit, pool: Pool, { made, names, why }: { made: Offer; names: string[]; why: string }): Change[] {
  const { store, clock, journal } = kit;
  const askedAt = clock.now();
  const offer = made.id;
  const form = kit.clouds.formOf(offer);
  const record: LaunchRecord = {
    id: kit.nextId(),
    pool: pool.id,
    offer,
    mark: { cluster: store.cluster, use: 'worker', owner: pool.id, shape: shapeOf(kit.offerShape(made), form) },
    names,
    agentConfig: kit.bootConfig(pool),
    install: kit.install?.(),
    askedAt,
  };
  kit.launches.set(record.id, { isCalling: false, calls: 0, tries: 0, notBeforeMs: 0 });
  for (const name of names) kit.firstSight(name);
  const pricePerHour = priceOf(kit, pool.spec, offer);
  const asked = { pool: pool.id, launch: record.id, offer, askedAt, pricePerHour, form };
  const rows = names.map((id): Worker => ({ id, machine: id, ...asked }));
  const event = journal.event({
    kind: 'worker.asked',
    subject: `launch/${record.id}`,
    pool: pool.id,
    message: `Asked for ${names.length} of pool ${pool.name}: ${why}.`,
    fields: { names, offer },
  });
  return [put('launches', record), ...rows.map((row) => put('workers', row)), event];
}

/** Whatever a launch of an earlier process came to, nobody here knows. */
export function stateOf(kit: Kit, launch: string): LaunchState {
  let state = kit.launches.get(launch);
  if (!state) {
    state = { isCalling: false, calls: 1, tries: 1, endedMs: kit.startedMs, notBeforeMs: 0 };
    kit.launches.set(launch, state);
  }
  return state;
}

/** Calls the cloud for a committed launch. Repeating it makes nothing twice: same id, same bytes. */
export function callFor(kit: Kit, record: LaunchRecord): void {
  const state = stateOf(kit, record.id);
  state.isCalling = true;
  state.tries += 1;
  kit.start('launch', async () => {
    let hasLeft = false;
    try {
      const offer = kit.store.view.offers.get(record.offer);
      if (!offer) throw new Fault('invalid', `The offer ${record.offer} is not known any more.`);
      const outcomes = await kit.clouds.create(offer, launchFrom(kit, record), {
        owner: record.pool,
        signal: kit.stopping,
        leaving: () => (hasLeft = true),
      });
      takeOutcomes(kit, record, believed(state, outcomes));
    } catch (thrown) {
      takeFault(kit, record, { fault: Fault.from(thrown), hasLeft });
    } finally {
      state.isCalling = false;
      if (hasLeft) ended(kit, record, state);
      kit.poke(record.pool);
    }
  });
}

function launchFrom(kit: Kit, { id, mark, names, agentConfig, install }: LaunchRecord): Launch {
  return { id, mark: readMark(mark), names, boot: { agentConfig, install, token: kit.launchToken(id) } };
}

function ended(kit: Kit, record: LaunchRecord, state: LaunchState): void {
  const nowMs = kit.clock.monotonic();
  state.calls += 1;
  state.endedMs = nowMs;
  for (const name of record.names) {
    const worker = kit.store.view.workers.get(name);
    if (worker) kit.sightOf(worker).missedFromMs = nowMs + firstListingMs(kit, record.offer);
  }
}

function takeFault(kit: Kit, record: LaunchRecord, { fault, hasLeft }: { fault: Fault; hasLeft: boolean }): void {
  const state = stateOf(kit, record.id);
  // What never left is as clear as a refusal, once it has been tried often enough: another offer may do.
  const isHopeless = !hasLeft && state.calls === 0 && state.tries >= MOST_CALLS && !kit.stopping.aborted;
  if (!isUnclear(fault.kind) || isHopeless) {
    const outcomes = record.names.map((name) => ({ name, fault }));
    takeOutcomes(kit, record, believed(state, outcomes));
    if (state.refusal) coolOff(kit, record, state.refusal);
    return;
  }
  if (kit.stopping.aborted) return;
  kit.log('warn', 'launch unclear', {
    pool: record.pool,
    launch: record.id,
    kind: fault.kind,
    error: fault.message,
    hasLeft,
  });
  state.notBeforeMs = kit.clock.monotonic() + retryDelayMs(fault, state.tries, kit.random.next());
}

/** That a repeat is refused does not tell what became of the calls before it: only the listings can. */
function believed(state: LaunchState, outcomes: readonly Outcome[]): readonly Outcome[] {
  const refusal = outcomes.find(({ fault }) => fault)?.fault;
  if (state.calls === 0 || !refusal) return outcomes;
  state.refusal = refusal;
  return outcomes.filter(({ fault }) => !fault);
}

/** Settles each name that the cloud spoke of; a name it left out stays unclear until it is listed or missed. */
export function takeOutcomes(kit: Kit, record: LaunchRecord, outcomes: readonly Outcome[]): void {
  const { view } = kit.store;
  const byName = new Map(outcomes.map((outcome) => [outcome.name, outcome]));
  const changes: Change[] = [];
  let failure: Fault | undefined;
  for (const name of record.names) {
    const outcome = byName.get(name);
    const worker = view.workers.get(name);
    if (!outcome || !worker) continue;
    // An agent that is already here knows better than the cloud whether it exists.
    if (!outcome.fault || worker.joinedAt !== undefined) {
      changes.push(put('workers', made(kit, worker, outcome.machine)));
      continue;
    }
    failure = outcome.fault;
    changes.push(...failed(kit, worker, outcome.fault));
  }
  const isSettled = record.names.every((name) => byName.has(name) || !view.workers.get(name));
  if (isSettled) changes.push(...settled(kit, record.id));
  if (failure) coolOff(kit, record, failure);
  kit.commit(changes);
}

export function made(kit: Kit, worker: Worker, machine = worker.machine): Worker {
  return { ...worker, machine, createdAt: worker.createdAt ?? kit.clock.now() };
}

/** The cloud made nothing under that name: it is given up, and the next plan asks under another. */
export function failed(kit: Kit, worker: Worker, { kind, message }: Pick<Fault, 'kind' | 'message'>): Change[] {
  const event = kit.journal.event({
    kind: 'worker.failed',
    subject: `worker/${worker.id}`,
    pool: worker.pool,
    message: `Not launched: ${message}`,
    fields: { fault: kind },
  });
  return [drop('workers', worker.id), event];
}

export function settled(kit: Kit, launch: string): Change[] {
  kit.launches.delete(launch);
  return [drop('launches', launch)];
}

export function coolOff(kit: Kit, record: LaunchRecord, fault: Failure): void {
  const pool = kit.store.view.pools.get(record.pool);
  if (pool) coolDown(kit, pool, { offer: record.offer, fault });
}

/** A machine that the cloud made and that will not join. */
export function bootGaveUp(kit: Kit, worker: Worker, fault: Failure): void {
  const pool = kit.store.view.pools.get(worker.pool);
  bootFailed(kit, worker.pool);
  if (pool && worker.offer !== undefined)
    coolDown(kit, pool, { offer: worker.offer, fault: { ...fault, retryAfterMs: undefined } });
}

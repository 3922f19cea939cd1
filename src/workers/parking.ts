// Idle machines that are stopped and kept: the next launch wakes one of them in place of making another.
import { Fault, type FaultKind, retryDelayMs } from '#core/fault.ts';
import type { Pool } from '#core/pool.ts';
import type { Machine, Outcome } from '#core/provider.ts';
import { type Change, put } from '#core/store.ts';
import type { Worker } from '#core/worker.ts';
import { coolDown } from './boots.ts';
import type { Kit } from './kit.ts';
import { isOutdated, priceOf } from './offers.ts';
import { removalOf } from './removal.ts';
import { beginErrand, type Errand } from './sight.ts';
import type { Survey } from './survey.ts';

type Order = 'suspend' | 'resume';

/** Answers for one worker after the other whether it is parked in place of being deleted. */
export function openLot(kit: Kit, pool: Pool): (worker: Worker) => boolean {
  const taken = new Map<string, number>();
  const countOf = (offer: string): number =>
    taken.get(offer) ?? parkedOf(kit, pool.id).filter((worker) => worker.offer === offer).length;
  return (worker) => {
    const parking = worker.offer === undefined ? undefined : kit.clouds.parkingOf(worker.offer);
    if (!parking || worker.offer === undefined || pool.removal || worker.joinedAt === undefined) return false;
    if (isOutdated(kit, pool, worker) || isTooOld(kit, worker, parking.maxAgeMs)) return false;
    const count = countOf(worker.offer);
    if (count >= parking.most) return false;
    taken.set(worker.offer, count + 1);
    return true;
  };
}

const parkedOf = ({ store }: Kit, pool: string): Worker[] =>
  [...store.view.workers.by('pool', pool)].filter((worker) => worker.parked && !worker.removal && !worker.drain);

function isTooOld({ clock }: Kit, { createdAt, askedAt }: Worker, maxAgeMs = Number.POSITIVE_INFINITY): boolean {
  return clock.now() - (createdAt ?? askedAt) >= maxAgeMs;
}

const listedOf = ({ clouds }: Kit, { offer, machine }: Worker): Machine | undefined =>
  offer === undefined ? undefined : clouds.listing(offer)?.machines.get(machine);

/** What commits that a worker is parked. Whoever calls it has seen in the same turn that it has no session. */
export function parkOf(kit: Kit, worker: Worker, why: string): Change[] {
  kit.sightOf(worker).standstill = undefined;
  return [put('workers', { ...worker, parked: { at: kit.clock.now() } }), told(kit, worker, `Parking it: ${why}.`)];
}

function told({ journal }: Kit, { id, pool }: Worker, message: string): Change {
  return journal.event({ kind: 'worker.parking', subject: `worker/${id}`, pool, message });
}

/**
 * What commits that parked workers are woken, those parked last first; only such as their cloud shows at rest. One that
 * there was no room for stays where it was made: for a while another is made in its place, maybe in another zone.
 */
export function wake(
  kit: Kit,
  pool: Pool,
  { offer, count, why }: { offer: string; count: number; why: string },
): { readonly count: number; readonly changes: Change[] } {
  if (!kit.clouds.parkingOf(offer)) return { count: 0, changes: [] };
  const chosen = parkedOf(kit, pool.id)
    .filter((worker) => worker.offer === offer && !isOutdated(kit, pool, worker))
    .filter((worker) => listedOf(kit, worker)?.state === 'suspended' && !hadNoRoom(kit, worker))
    .toSorted((a, b) => (b.parked?.at ?? 0) - (a.parked?.at ?? 0))
    .slice(0, count);
  const nowMs = kit.clock.monotonic();
  const changes = chosen.flatMap((worker) => {
    const sight = kit.firstSight(worker.id);
    sight.missedFromMs = nowMs;
    sight.hasBeenListed = true;
    const asked = { askedAt: kit.clock.now(), pricePerHour: priceOf(kit, pool.spec, offer) };
    const row: Worker = { ...worker, ...asked, parked: undefined, joinedAt: undefined, isWaking: true };
    return [put('workers', row), told(kit, row, `Waking it: ${why}.`)];
  });
  return { count: chosen.length, changes };
}

function hadNoRoom({ sightOf, clock, times }: Kit, worker: Worker): boolean {
  const { noRoomMs = Number.NEGATIVE_INFINITY } = sightOf(worker);
  return clock.monotonic() - noRoomMs < times.noRoomMs;
}

/** Stops what is parked, starts what is woken, and removes what is parked in vain; answers when to look again. */
export function keepParked(kit: Kit, pool: Pool | undefined, { parked, waking }: Survey): number {
  if (parked.length + waking.length === 0) return Number.POSITIVE_INFINITY;
  const kept = parked.filter((worker) => !worker.removal && !worker.drain);
  const vain = pool && !pool.removal ? inVain(kit, pool, kept) : new Map<Worker, string>();
  if (vain.size > 0) kit.commit([...vain].flatMap(([worker, why]) => removalOf(kit, worker, why)));
  const toStop = kept.filter((worker) => !vain.has(worker) && stateOf(kit, worker) === 'running');
  const toStart = waking.filter((worker) => !worker.removal && isStopped(stateOf(kit, worker)));
  return Math.min(order(kit, 'suspend', toStop), order(kit, 'resume', toStart), nextTooOld(kit, kept));
}

/** When the first of them will be too old. */
function nextTooOld({ clouds, clock }: Kit, parked: readonly Worker[]): number {
  let againAtMs = Number.POSITIVE_INFINITY;
  for (const { offer = '', createdAt, askedAt } of parked) {
    const maxAgeMs = clouds.parkingOf(offer)?.maxAgeMs;
    const leftMs = maxAgeMs === undefined ? Number.POSITIVE_INFINITY : (createdAt ?? askedAt) + maxAgeMs - clock.now();
    if (leftMs > 0) againAtMs = Math.min(againAtMs, clock.monotonic() + leftMs);
  }
  return againAtMs;
}

function stateOf(kit: Kit, worker: Worker): Machine['state'] | undefined {
  const state = listedOf(kit, worker)?.state;
  return state === 'creating' ? 'running' : state;
}

const isStopped = (state: Machine['state'] | undefined): boolean => state === 'suspended' || state === 'suspending';

function inVain(kit: Kit, pool: Pool, parked: readonly Worker[]): Map<Worker, string> {
  const counts = new Map<string, number>();
  const vain = new Map<Worker, string>();
  for (const worker of parked) {
    const offer = worker.offer ?? '';
    // Nothing is known of an offer that is not open yet.
    if (kit.clouds.cloudOf(offer) === undefined) continue;
    const parking = kit.clouds.parkingOf(offer);
    const count = (counts.get(offer) ?? 0) + 1;
    if (isOutdated(kit, pool, worker)) vain.set(worker, 'it was made from an older definition of the pool');
    else if (isTooOld(kit, worker, parking?.maxAgeMs)) vain.set(worker, 'it was parked, and is too old to be woken');
    else if (count > (parking?.most ?? 0)) vain.set(worker, 'more are parked than are kept');
    else counts.set(offer, count);
  }
  return vain;
}

/** Tells the cloud for all of them whose turn it is, by offer. */
function order(kit: Kit, what: Order, workers: readonly Worker[]): number {
  const nowMs = kit.clock.monotonic();
  const byOffer = new Map<string, Worker[]>();
  let againAtMs = Number.POSITIVE_INFINITY;
  for (const worker of workers) {
    const { standstill } = kit.sightOf(worker);
    const notBeforeMs =
      standstill?.agreedMs === undefined ? standstill?.notBeforeMs : standstill.agreedMs + kit.times.deleteAgainMs;
    if (standstill?.isCalling) continue;
    if ((notBeforeMs ?? 0) > nowMs) againAtMs = Math.min(againAtMs, notBeforeMs ?? 0);
    else byOffer.set(worker.offer ?? '', [...(byOffer.get(worker.offer ?? '') ?? []), worker]);
  }
  for (const [offer, batch] of byOffer) tell(kit, { what, offer }, batch);
  return againAtMs;
}

function tell(kit: Kit, { what, offer }: { what: Order; offer: string }, workers: readonly Worker[]): void {
  const errands = workers.map((worker) => {
    const sight = kit.sightOf(worker);
    sight.standstill = beginErrand(sight.standstill);
    return { worker, errand: sight.standstill };
  });
  const pool = (workers[0] as Worker).pool;
  kit.start(what, async () => {
    const outcomes = await call(kit, { what, offer, pool }, workers).catch((thrown): Outcome[] => {
      const fault = Fault.from(thrown);
      return workers.map(({ machine }) => ({ name: machine, fault }));
    });
    const byName = new Map(outcomes.map((outcome) => [outcome.name, outcome]));
    for (const { worker, errand } of errands) take(kit, what, { worker, errand, outcome: byName.get(worker.machine) });
    kit.clouds.refresh(offer);
    kit.poke(pool);
  });
}

async function call(
  kit: Kit,
  { what, offer, pool }: { what: Order; offer: string; pool: string },
  workers: readonly Worker[],
): Promise<readonly Outcome[]> {
  await kit.store.durable();
  if (what === 'suspend') for (const { id } of workers) kit.link.send(id, { do: 'drain', stop: true });
  const row = kit.store.view.offers.get(offer);
  if (!row) throw new Fault('invalid', `The offer ${offer} is not known any more.`);
  const machines = workers.flatMap((worker) => listedOf(kit, worker) ?? []);
  return kit.clouds.park(row, machines, { call: what, owner: pool, signal: kit.stopping });
}

// After these the cloud will not do it however often it is asked.
const HOPELESS: ReadonlySet<FaultKind> = new Set<FaultKind>(['unsupported', 'invalid', 'missing']);
const NO_ROOM: ReadonlySet<FaultKind> = new Set<FaultKind>(['exhausted', 'quota']);

function take(
  kit: Kit,
  what: Order,
  { worker: { id }, errand, outcome }: { worker: Worker; errand: Errand; outcome: Outcome | undefined },
): void {
  errand.isCalling = false;
  const worker = kit.store.view.workers.get(id);
  const nowMs = kit.clock.monotonic();
  if (outcome && !outcome.fault) {
    errand.agreedMs = nowMs;
    errand.attempts = 0;
    return;
  }
  if (kit.stopping.aborted || !worker || worker.removal) return;
  const fault = outcome?.fault ?? new Fault('unavailable', 'The cloud did not say what became of it.');
  errand.notBeforeMs = nowMs + retryDelayMs(fault, errand.attempts, kit.random.next());
  const fields = { pool: worker.pool, worker: id, order: what, kind: fault.kind, error: fault.message };
  kit.log('warn', 'machine not parked or woken', fields);
  if (HOPELESS.has(fault.kind)) kit.commit(removalOf(kit, worker, `the cloud does not ${what} it: ${fault.message}`));
  else if (what === 'resume' && NO_ROOM.has(fault.kind)) layBack(kit, worker, fault);
}

/** There is no room to wake it: it stays parked, and the next offer is asked. */
function layBack(kit: Kit, worker: Worker, fault: Fault): void {
  const pool = kit.store.view.pools.get(worker.pool);
  if (pool && worker.offer !== undefined) coolDown(kit, pool, { offer: worker.offer, fault });
  kit.sightOf(worker).noRoomMs = kit.clock.monotonic();
  const { isWaking: _, ...row } = worker;
  const joinedAt = worker.createdAt ?? worker.askedAt;
  kit.commit([
    put('workers', { ...row, joinedAt, parked: { at: kit.clock.now() } }),
    told(kit, row, `Not woken: ${fault.message}`),
  ]);
}

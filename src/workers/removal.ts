// A removal, once committed, is final: the machine is deleted until the cloud agrees, and only then does the row go.
import { isAbsent, isGone } from '#clouds/listing.ts';
import { Fault, retryDelayMs } from '#core/fault.ts';
import type { Machine, Outcome } from '#core/provider.ts';
import { type Change, drop, put } from '#core/store.ts';
import type { Worker } from '#core/worker.ts';
import { type Kit, lifetimeOf } from './kit.ts';
import { isExact, listLagMs } from './lag.ts';
import { beginErrand, type Errand, type Sight } from './sight.ts';

const MOST_DELETED_AT_ONCE = 50;

/** What commits a removal. Whoever calls it has seen in the same turn that no session would be lost, or may not care. */
export function removalOf(kit: Kit, worker: Worker, why: string): Change[] {
  const sight = kit.sightOf(worker);
  // What listings said before does not count: it may be here still, and the cloud must be asked.
  if (sight.missedFromMs !== Number.POSITIVE_INFINITY) {
    sight.missedFromMs = Math.max(sight.missedFromMs, kit.clock.monotonic() + lagOf(kit, worker, sight));
  }
  const event = kit.journal.event({
    kind: 'worker.removing',
    subject: `worker/${worker.id}`,
    pool: worker.pool,
    message: `Removing it: ${why}.`,
  });
  return [put('workers', { ...worker, removal: { at: kit.clock.now(), why } }), event];
}

/** A machine that no listing has shown yet may be there all the same: only later listings can tell that it is not. */
const lagOf = (kit: Kit, { offer }: Worker, { hasBeenListed }: Sight): number =>
  hasBeenListed ? 0 : listLagMs(kit, offer);

/** Deletes the machines of removed workers and drops the rows of those that are gone; answers when to look again. */
export function carryOutRemovals(kit: Kit, pool: string, removing: readonly Worker[]): number {
  const changes: Change[] = [];
  const gone: string[] = [];
  const byOffer = new Map<string, Worker[]>();
  let againAtMs = Number.POSITIVE_INFINITY;
  for (const worker of removing) {
    const sight = kit.sightOf(worker);
    if (isOver(kit, worker, sight)) {
      changes.push(...over(kit, worker));
      gone.push(worker.id);
    } else if (isToBeCalled(kit, worker, sight)) {
      const batch = byOffer.get(worker.offer ?? '');
      if (batch) batch.push(worker);
      else byOffer.set(worker.offer ?? '', [worker]);
    } else againAtMs = Math.min(againAtMs, nextLook(kit, worker, sight));
  }
  if (changes.length > 0) {
    kit.commit(changes, () => {
      for (const name of gone) kit.link.dismiss(name, 'This worker has been removed.');
    });
  }
  for (const [offer, workers] of byOffer) deleteAll(kit, { pool, offer }, workers);
  return againAtMs;
}

/** Gone for sure: the cloud was asked at least once, and agreed and one listing does not show it, or two do not. */
function isOver(kit: Kit, worker: Worker, sight: Sight): boolean {
  if (!sight.deletion || sight.deletion.isCalling || isLaunching(kit, worker)) return false;
  const { agreedMs } = sight.deletion;
  if (worker.offer === undefined) return agreedMs !== undefined;
  const listing = kit.clouds.listing(worker.offer);
  // An empty answer alone proves nothing: clouds that have lost sight of everything give it too.
  const isProof = listing !== undefined && (listing.machines.size > 0 || isExact(kit, worker.offer));
  if (isProof && agreedMs !== undefined && isAbsent(listing, worker.machine, agreedMs + lagOf(kit, worker, sight)))
    return true;
  return isGone(listing, worker.machine, sight.missedFromMs);
}

/** While its launch is under way the machine may yet be made: to delete it now could be too early. */
const isLaunching = (kit: Kit, worker: Worker): boolean => kit.launches.get(worker.launch ?? '')?.isCalling === true;

function isToBeCalled(kit: Kit, worker: Worker, sight: Sight): boolean {
  const { deletion } = sight;
  if (isLaunching(kit, worker)) return false;
  // A launch that the cloud has not heard of is dropped as a whole, or called first.
  const launch = kit.launches.get(worker.launch ?? '');
  if (launch && launch.endedMs === undefined) return false;
  if (!deletion) return true;
  const nowMs = kit.clock.monotonic();
  if (deletion.isCalling || nowMs < deletion.notBeforeMs) return false;
  if (deletion.agreedMs === undefined) return true;
  const machine = kit.clouds.listing(worker.offer ?? '')?.machines.get(worker.machine);
  return machine !== undefined && machine.state !== 'deleting' && nowMs - deletion.agreedMs >= kit.times.deleteAgainMs;
}

/**
 * Until the cloud shows it no more it is listed more often than usual. Not at once: a machine takes its time to end, and
 * every machine that goes would cost a listing of the whole account.
 */
function nextLook(kit: Kit, worker: Worker, { deletion }: Sight): number {
  if (!deletion || deletion.isCalling) return Number.POSITIVE_INFINITY;
  if (deletion.agreedMs === undefined) return deletion.notBeforeMs;
  const listing = kit.clouds.listing(worker.offer ?? '');
  const startedMs = listing?.startedMs ?? deletion.agreedMs;
  const dueMs = Math.max(startedMs, deletion.agreedMs) + kit.times.deletingListMs;
  const isMissed = startedMs > deletion.agreedMs && listing?.machines.has(worker.machine) === false;
  const isFirst = startedMs <= deletion.agreedMs;
  const isDue = isMissed || (isFirst && isExact(kit, worker.offer)) || kit.clock.monotonic() >= dueMs;
  if (isDue) kit.clouds.refresh(worker.offer ?? '');
  return isDue ? Number.POSITIVE_INFINITY : dueMs;
}

function over(kit: Kit, worker: Worker): Change[] {
  const lifetime = lifetimeOf(kit, worker);
  const event = kit.journal.event({
    kind: 'worker.removed',
    subject: `worker/${worker.id}`,
    pool: worker.pool,
    message: `Gone after ${lifetime}: ${worker.removal?.why ?? ''}.`,
    fields: { lifetime },
  });
  return [drop('workers', worker.id), drop('agents', worker.id), event];
}

function deleteAll(kit: Kit, { pool, offer }: { pool: string; offer: string }, workers: readonly Worker[]): void {
  const kind = kit.store.view.offers.get(offer)?.kind;
  const most = (kind === undefined ? undefined : kit.clouds.batchOf(kind)) ?? MOST_DELETED_AT_ONCE;
  for (let at = 0; at < workers.length; at += most) deleteBatch(kit, { pool, offer }, workers.slice(at, at + most));
}

function deleteBatch(kit: Kit, { pool, offer }: { pool: string; offer: string }, workers: readonly Worker[]): void {
  const deletions = workers.map((worker) => {
    const sight = kit.sightOf(worker);
    sight.deletion = beginErrand(sight.deletion);
    return { worker, deletion: sight.deletion };
  });
  kit.start('delete', async () => {
    const outcomes = await tell(kit, offer, workers).catch((thrown): Outcome[] => {
      const fault = Fault.from(thrown);
      return workers.map((worker) => ({ name: worker.machine, fault }));
    });
    const byName = new Map(outcomes.map((outcome) => [outcome.name, outcome]));
    for (const { worker, deletion } of deletions) take(kit, { worker, deletion, outcome: byName.get(worker.machine) });
    kit.poke(pool);
  });
}

/** First the agents are told, so that an idle one leaves in good order; then the cloud. */
async function tell(kit: Kit, offer: string, workers: readonly Worker[]): Promise<readonly Outcome[]> {
  await kit.store.durable();
  for (const worker of workers) kit.link.send(worker.id, { do: 'drain', stop: true });
  if (offer === '') return workers.map(({ machine }) => ({ name: machine }));
  const row = kit.store.view.offers.get(offer);
  if (!row) throw new Fault('invalid', `The offer ${offer} is not known any more.`);
  const machines = workers.map((worker) => machineOf(kit, worker));
  return kit.clouds.delete(row, machines, { owner: (workers[0] as Worker).pool, signal: kit.stopping });
}

/** As the cloud listed it, or as we asked for it. */
function machineOf(kit: Kit, worker: Worker): Machine {
  const listed = kit.clouds.listing(worker.offer ?? '')?.machines.get(worker.machine);
  return (
    listed ?? {
      name: worker.machine,
      mark: { cluster: kit.store.cluster, use: 'worker', owner: worker.pool, shape: worker.offer ?? '' },
      createdAt: worker.createdAt ?? worker.askedAt,
      state: 'running',
    }
  );
}

function take(
  kit: Kit,
  { worker, deletion, outcome }: { worker: Worker; deletion: Errand; outcome: Outcome | undefined },
): void {
  const nowMs = kit.clock.monotonic();
  deletion.isCalling = false;
  if (outcome && !outcome.fault) {
    deletion.agreedMs = nowMs;
    deletion.attempts = 0;
    return;
  }
  if (kit.stopping.aborted) return;
  const fault = outcome?.fault ?? new Fault('unavailable', 'The cloud did not say what became of it.');
  const waitMs = retryDelayMs(fault, deletion.attempts, kit.random.next());
  deletion.notBeforeMs = nowMs + waitMs;
  const fields = { pool: worker.pool, worker: worker.id, kind: fault.kind, error: fault.message };
  kit.log('warn', 'machine not deleted', { ...fields, attempts: deletion.attempts, waitMs });
}

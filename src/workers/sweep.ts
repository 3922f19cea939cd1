// Compares what a cloud lists with what we know, both ways, once for each listing.
import type { Listing } from '#clouds/listing.ts';
import { Fault } from '#core/fault.ts';
import { isLaunchName } from '#core/id.ts';
import { type Loop, startLoop } from '#core/loop.ts';
import type { Offer } from '#core/pool.ts';
import type { Machine, Mark } from '#core/provider.ts';
import { inSlices } from '#core/slices.ts';
import { put } from '#core/store.ts';
import type { Worker } from '#core/worker.ts';
import { isFrozen } from './freeze.ts';
import { type Kit, workerNamed } from './kit.ts';
import { isMadeFrom, priceOf } from './offers.ts';
import { isOlderThanBackup } from './restored.ts';
import { forgetUnknown, noteUnknown } from './unknown.ts';

/** Looks through each new listing, a few milliseconds at a time. */
export function startSweep(kit: Kit): Pick<Loop, 'stop'> {
  const { clock, random, log, clouds } = kit;
  const newest = new Map<string, Listing>();
  const loop = startLoop({
    name: 'sweep',
    clock,
    random,
    log,
    concurrency: 4,
    async reconcile(cloud) {
      const listing = newest.get(cloud);
      newest.delete(cloud);
      if (listing) await review(kit, listing);
    },
  });
  clouds.onListing((listing) => {
    newest.set(listing.cloud, listing);
    loop.poke(listing.cloud);
    // The pools that wait for it need not wait for the whole of it to be looked through.
    for (const pool of listing.count === 1 ? poolsOf(kit, listing.cloud) : waitingFor(kit, listing.cloud))
      kit.poke(pool);
  });
  // Whoever waits for a listing says why it does not come.
  clouds.onFault((followers) => {
    for (const pool of followers) if (kit.waiting.has(pool)) kit.poke(pool);
  });
  return loop;
}

function* poolsOf({ clouds, store }: Kit, cloud: string): Iterable<string> {
  for (const follower of clouds.followers(cloud)) if (store.view.pools.get(follower)) yield follower;
}

function* waitingFor(kit: Kit, cloud: string): Iterable<string> {
  const { clouds, store, waiting } = kit;
  for (const pool of waiting) {
    if (clouds.isFollowing(pool, cloud) ? store.view.pools.get(pool) : hasWorkersIn(kit, pool, cloud)) yield pool;
  }
}

/** Workers of older definitions may be in a cloud that their pool has left. */
function hasWorkersIn({ clouds, store }: Kit, pool: string, cloud: string): boolean {
  return Iterator.from(store.view.workers.by('pool', pool)).some(
    ({ offer }) => offer !== undefined && clouds.cloudOf(offer) === cloud,
  );
}

async function review(kit: Kit, listing: Listing): Promise<void> {
  const { store, clock } = kit;
  const orphans: Machine[] = [];
  const before = listing.before?.machines;
  const strangers = strangerPool(kit, listing.cloud);
  // Two listings for one that would be deleted; one that will be taken in must be known before anything is launched.
  const isOrphan = (machine: Machine): boolean => before?.has(machine.name) === true || isOlderThanBackup(kit, machine);
  let stayed = 0;
  await inSlices(clock, listing.machines.values(), (machine) => {
    const known = before?.get(machine.name);
    if (known) stayed += 1;
    const worker = workerNamed(store, machine.name);
    if (worker) noticeChange(kit, worker, { machine, before: known });
    else if (!machine.mark) strangers.note(machine);
    // A computer's machine is none of ours: the feature that registered its use looks after it.
    else if (machine.mark.use === 'worker' && machine.state !== 'deleting' && isOrphan(machine)) orphans.push(machine);
  });
  // Most often all of them stayed.
  if (before && stayed < before.size) {
    await inSlices(clock, before.keys(), (name) => {
      const worker = listing.machines.has(name) ? undefined : workerNamed(store, name);
      if (worker) kit.poke(worker.pool);
    });
  }
  strangers.forget(listing);
  settleOrphans(kit, listing.cloud, orphans);
  if (kit.reviewed.has(listing.cloud)) return;
  kit.reviewed.add(listing.cloud);
  for (const pool of poolsOf(kit, listing.cloud)) kit.poke(pool);
}

/** A machine that turned bad, or is parked and runs, is looked at now, not when its pool happens to pass again. */
function noticeChange(
  kit: Kit,
  worker: Worker,
  { machine, before }: { machine: Machine; before: Machine | undefined },
): void {
  const isWorse = machine.state === 'failed' || machine.trouble?.final === true;
  const isNews = machine.state !== before?.state || machine.trouble?.final !== before.trouble?.final;
  const isAwake = worker.parked !== undefined && machine.state !== 'suspended';
  if (isNews && (isWorse || isAwake)) kit.poke(worker.pool);
}

/** Kinds that cannot mark have a cloud of their own for each pool; shared by several, the first one answers for all. */
function strangerPool(kit: Kit, cloud: string) {
  const [pool] = poolsOf(kit, cloud);
  const [offer] = kit.clouds.offersOf(cloud);
  return {
    note(machine: Machine): void {
      if (pool !== undefined && offer) noteUnknown(kit, pool, { machine, offer: offer.id });
    },
    forget(listing: Listing): void {
      if (pool === undefined) return;
      forgetUnknown(kit, pool, (name, of) => {
        if (kit.clouds.cloudOf(of) !== listing.cloud) return true;
        const isListed = listing.machines.has(name) || listing.before?.machines.has(name) === true;
        return isListed && !workerNamed(kit.store, name);
      });
    },
  };
}

/**
 * What bears our mark and has no row is an orphan: rows are committed before their machines are asked for. It is
 * deleted, unless it is older than the backup that this store came from: then it is taken in.
 */
function settleOrphans(kit: Kit, cloud: string, orphans: readonly Machine[]): void {
  const { store } = kit;
  const byOffer = new Map<Offer, Machine[]>();
  for (const machine of orphans) {
    const mark = machine.mark as Mark;
    const offer = offerFor(kit, cloud, mark);
    // Between two slices its row may have come: adopted by an earlier review.
    if (!offer || isHeld(kit, mark.owner) || workerNamed(store, machine.name)) continue;
    if (isOlderThanBackup(kit, machine)) adopt(kit, machine, offer);
    else if (kit.sweeping.has(machine.name) || mayBeLaunched(kit, machine)) continue;
    else byOffer.set(offer, [...(byOffer.get(offer) ?? []), machine]);
  }
  for (const [offer, machines] of byOffer) sweepAway(kit, offer, machines);
}

const isHeld = (kit: Kit, pool: string): boolean =>
  isFrozen(kit, pool) || kit.store.view.pools.get(pool)?.pausedAt !== undefined;

// Clouds tell whole seconds, and their clocks are not ours.
const CLOCK_ERROR_MS = 60_000;

/** Whether an open launch may have made it under a name of its cloud's choosing: the answer to that will tell. */
function mayBeLaunched({ store }: Kit, { name, mark, createdAt }: Machine): boolean {
  if (!mark || isLaunchName(name)) return false;
  return Iterator.from(store.view.launches.by('pool', mark.owner)).some(
    (launch) => launch.mark.shape === mark.shape && createdAt >= launch.askedAt - CLOCK_ERROR_MS,
  );
}

/** The very offer that made it, or another way into the same cloud. */
function offerFor(kit: Kit, cloud: string, mark: Mark): Offer | undefined {
  const offers = [...kit.clouds.offersOf(cloud)];
  return offers.findLast((offer) => isMadeFrom(kit, offer, mark)) ?? offers.at(-1);
}

function adopt(kit: Kit, machine: Machine, offer: Offer): void {
  const { store, journal, clock } = kit;
  const pool = store.view.pools.get(machine.mark?.owner ?? '');
  if (!pool) {
    kit.log('warn', 'machine of a pool that is not known, left alone', {
      machine: machine.name,
      pool: machine.mark?.owner,
    });
    return;
  }
  // Its agent may be at work: it counts as one that has joined, is away, and gets the grace of a restart to come back.
  const sight = kit.firstSight(machine.name);
  sight.missedFromMs = clock.monotonic();
  sight.backByMs = clock.monotonic() + kit.times.reconnectGraceMs;
  sight.awaySinceMs = sight.backByMs;
  const { name: id, createdAt } = machine;
  const dates = { askedAt: createdAt, createdAt, joinedAt: createdAt };
  const pricePerHour = priceOf(kit, pool.spec, offer.id);
  const message = 'Taken in: it is older than the backup that this store came from.';
  kit.commit([
    ...(store.view.offers.get(offer.id) ? [] : [put('offers', offer)]),
    put('workers', { id, pool: pool.id, offer: offer.id, machine: id, pricePerHour, ...dates }),
    journal.event({ kind: 'machine.adopted', subject: `worker/${id}`, pool: pool.id, message }),
  ]);
}

function sweepAway(kit: Kit, offer: Offer, machines: readonly Machine[]): void {
  for (const { name } of machines) kit.sweeping.add(name);
  kit.start('sweep', async () => {
    const owner = `sweep of ${offer.id}`;
    const outcomes = await kit.clouds.delete(offer, machines, { owner, signal: kit.stopping }).catch((thrown) => {
      const fault = Fault.from(thrown);
      return machines.map(({ name }) => ({ name, fault }));
    });
    for (const { name } of machines) kit.sweeping.delete(name);
    const changes = outcomes.flatMap(({ name, fault }) => {
      if (fault) {
        kit.log('warn', 'orphan not deleted', { machine: name, kind: fault.kind, error: fault.message });
        return [];
      }
      const message = 'Deleted: it bears our mark and nobody asked for it.';
      return [kit.journal.event({ kind: 'machine.swept', subject: `machine/${name}`, message })];
    });
    if (changes.length > 0) kit.commit(changes);
  });
}

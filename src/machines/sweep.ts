// Compares each listing of a cloud with our rows, both ways.
import type { Listing } from '#clouds/listing.ts';
import { Fault } from '#core/fault.ts';
import { isLaunchName } from '#core/id.ts';
import { type Loop, startLoop } from '#core/loop.ts';
import type { MachineRow } from '#core/machine.ts';
import type { Offer } from '#core/pool.ts';
import type { Machine, Mark, Use } from '#core/provider.ts';
import { inSlices, openSlices } from '#core/slices.ts';
import { isMadeFrom } from './offers.ts';
import { type Orphan, type Orphans, openOrphans } from './orphans.ts';
import type { Base, OwnedMachines } from './owned-machines.ts';
import { isOlderThanBackup } from './restored.ts';
import { openReviewCache, type ReviewCache } from './review-cache.ts';
import { forgetKnown, observeUnknown } from './unknown.ts';
import { hasChanged } from './waiting.ts';

/** The features by the use that each of them registered. */
export type Features = ReadonlyMap<Use, OwnedMachines>;

export interface Sweep extends Pick<Loop, 'stop'> {
  /** Whether the machines of that cloud have been compared with our rows at least once. */
  isReviewed(cloud: string): boolean;
  /** The row of a machine was dropped: the next review checks it even if its listing is unchanged. */
  invalidate(cloud: string | undefined, machine: string): void;
  /** An owner is no more: what it let stay is deleted now, because nobody may list its cloud again. */
  ownerGone(owner: string): void;
}

/** Looks through each new listing, a few milliseconds at a time. */
export function startSweep(base: Base, features: Features): Sweep {
  const { clock, random, log, clouds } = base;
  const newest = new Map<string, Listing>();
  const reviewed = new Set<string>();
  const sweeping = new Set<string>();
  const settled = openReviewCache();
  const orphans = openOrphans(base);
  const by: Review = { base, features, sweeping, settled, orphans };
  const loop = startLoop({
    name: 'sweep',
    clock,
    random,
    log,
    concurrency: 4,
    async reconcile(cloud) {
      const listing = newest.get(cloud);
      newest.delete(cloud);
      if (!listing) return;
      await review(by, listing);
      if (reviewed.has(cloud)) return;
      reviewed.add(cloud);
      for (const owned of features.values()) for (const owner of ownersIn(owned, cloud)) owned.poke(owner);
    },
  });
  clouds.onListing((listing) => {
    newest.set(listing.cloud, listing);
    loop.poke(listing.cloud);
    // The owners that wait for it need not wait for the whole of it to be looked through.
    for (const owned of features.values()) {
      const owners = listing.count === 1 ? ownersIn(owned, listing.cloud) : waitingFor(owned, listing);
      for (const owner of owners) owned.poke(owner);
    }
  });
  // An owner that waits for a listing says why it does not come.
  clouds.onFault((followers) => {
    for (const owned of features.values())
      for (const owner of followers) if (owned.waiting.has(owner)) owned.poke(owner);
  });
  return {
    stop: loop.stop,
    isReviewed: (cloud) => reviewed.has(cloud),
    invalidate(cloud, machine) {
      settled.invalidate(cloud, machine);
      orphans.forget(machine);
    },
    ownerGone: (owner) => resolveOrphans(by, orphans.of(owner)),
  };
}

function* ownersIn({ base, isOwner }: OwnedMachines, cloud: string): Iterable<string> {
  for (const follower of base.clouds.followers(cloud)) if (isOwner(follower)) yield follower;
}

function* waitingFor(owned: OwnedMachines, listing: Listing): Iterable<string> {
  const { cloud } = listing;
  const { clouds } = owned.base;
  const isSame = listing.machines === listing.before?.machines;
  for (const [owner, underWay] of owned.waiting.all()) {
    if (underWay) {
      if (!isSame && hasChanged(listing, underWay, clouds.cloudOf)) yield owner;
      continue;
    }
    const isFollowing = clouds.isFollowing(owner, cloud);
    if (isFollowing ? owned.isOwner(owner) : hasRowsIn(owned, owner, cloud)) yield owner;
  }
}

/** Machines of older definitions may be in a cloud that their owner has left. */
function hasRowsIn({ base, rowsOf }: OwnedMachines, owner: string, cloud: string): boolean {
  let last: string | undefined;
  for (const { offer } of rowsOf(owner)) {
    // Most rows of an owner are of one offer.
    if (offer === undefined || offer === last) continue;
    last = offer;
    if (base.clouds.cloudOf(offer) === cloud) return true;
  }
  return false;
}

interface Review {
  readonly base: Base;
  readonly features: Features;
  /** Orphans that their cloud is being asked to delete. */
  readonly sweeping: Set<string>;
  readonly settled: ReviewCache;
  readonly orphans: Orphans;
}

// Passing one over takes less time than reading the clock.
const SETTLED_PER_LOOK_AT_CLOCK = 64;

async function review(by: Review, listing: Listing): Promise<void> {
  const { base, features } = by;
  const orphans: Omit<Orphan, 'offer'>[] = [];
  const before = listing.before?.machines;
  const unmarked = unmarkedIn(by, listing.cloud);
  // Two listings for one that would be deleted; one that will be adopted must be known before anything is launched.
  const isOrphan = (machine: Machine): boolean =>
    before?.has(machine.name) === true || isOlderThanBackup(base, machine);
  let stayed = 0;
  const reviewed = by.settled.begin(listing);
  const look = (machine: Machine, known: Machine | undefined): void => {
    // A machine of an unregistered use is never deleted, adopted or counted.
    const owned = machine.mark && features.get(machine.mark.use);
    if (machine.mark && !owned) return reviewed.keepForNextReview(machine);
    const found = owned ? rowIn(owned, machine.name) : rowOf(features.values(), machine.name);
    if (found) return noticeChange(found, machine, known);
    reviewed.keepForNextReview(machine);
    if (!machine.mark) unmarked.observe(machine);
    else if (owned && machine.state !== 'deleting' && isOrphan(machine))
      orphans.push({ machine, owned, owner: machine.mark.owner });
  };
  const slices = openSlices(base.clock);
  let seen = 0;
  for (const machine of reviewed.onlyThese ?? listing.machines.values()) {
    const known = reviewed.before(machine);
    if (known) stayed += 1;
    seen += 1;
    const isUnchanged = reviewed.isUnchanged(machine, known);
    if (!isUnchanged) look(machine, known);
    if ((!isUnchanged || seen % SETTLED_PER_LOOK_AT_CLOCK === 0) && slices.isOver()) await slices.next();
  }
  // Most often all of them stayed.
  if (before && !reviewed.onlyThese && stayed < before.size) {
    await inSlices(base.clock, before.keys(), (name) => {
      const found = listing.machines.has(name) ? undefined : rowOf(features.values(), name);
      if (found) found.owned.poke(found.owned.ownerOf(found.row));
    });
  }
  unmarked.forget(listing);
  by.orphans.prune(listing);
  const found = orphans.flatMap((orphan) => {
    const offer = offerFor(base, listing.cloud, orphan.machine.mark as Mark);
    return offer ? [{ ...orphan, offer }] : [];
  });
  await by.orphans.observe(listing.cloud, found);
  resolveOrphans(by, found);
}

interface Found {
  readonly owned: OwnedMachines;
  readonly row: MachineRow;
}

function rowIn(owned: OwnedMachines, machine: string): Found | undefined {
  const row = owned.named(machine);
  return row && { owned, row };
}

function rowOf(features: Iterable<OwnedMachines>, machine: string): Found | undefined {
  for (const owned of features) {
    const found = rowIn(owned, machine);
    if (found) return found;
  }
  return undefined;
}

/** A machine that turned bad, does not start for another reason, or is stopped or runs though it should not, is looked at now, not when its owner happens to pass again. */
function noticeChange({ owned, row }: Found, machine: Machine, before: Machine | undefined): void {
  // Most often the cloud shows the same as before.
  if (machine === before) return;
  const isWorse = machine.state === 'failed' || machine.trouble?.final === true;
  const isNews = machine.state !== before?.state || machine.trouble?.final !== before.trouble?.final;
  const isStopped = machine.state === 'suspended';
  const isTroubled = machine.trouble?.message !== before?.trouble?.message || machine.endsAt !== before?.endsAt;
  if (isTroubled || (isNews && (isWorse || isStopped !== (row.parked !== undefined)))) owned.poke(owned.ownerOf(row));
}

/** Kinds that cannot mark have a cloud of their own for each owner; shared by several, the first one answers for all. */
function unmarkedIn({ base, features }: Review, cloud: string) {
  let found: { readonly owned: OwnedMachines; readonly owner: string } | undefined;
  const first = (): typeof found => {
    for (const owned of features.values())
      for (const owner of found ? [] : ownersIn(owned, cloud)) {
        found = { owned, owner };
        break;
      }
    return found;
  };
  return {
    observe(machine: Machine): void {
      const [offer] = base.clouds.offersOf(cloud);
      const { owned, owner } = first() ?? {};
      if (owned && owner !== undefined && offer) observeUnknown(owned, owner, { machine, offer: offer.id });
    },
    forget(listing: Listing): void {
      // Most clouds have none, and who would answer for them need not be found out.
      if (!Iterator.from(features.values()).some(({ unknown }) => unknown.isAny())) return;
      const { owned, owner } = first() ?? {};
      if (!owned || owner === undefined) return;
      forgetKnown(owned, owner, (name, of) => {
        if (base.clouds.cloudOf(of) !== listing.cloud) return true;
        const isListed = listing.machines.has(name) || listing.before?.machines.has(name) === true;
        return isListed && !rowOf(features.values(), name);
      });
    },
  };
}

/**
 * A machine with our mark and without a row is an orphan: rows are committed before the launch. It is deleted at once
 * where it had a row or its owner is no more, otherwise when its owner says so. One that is older than the backup that
 * this store came from is adopted.
 */
function resolveOrphans(by: Review, orphans: readonly Orphan[]): void {
  const { base, sweeping } = by;
  const byOffer = new Map<Offer, Machine[]>();
  for (const orphan of orphans) {
    const { machine, owned, owner, offer } = orphan;
    // Between two slices its row may have come: adopted by an earlier review.
    if (owned.isHeld(owner) || owned.named(machine.name)) continue;
    if (isOlderThanBackup(base, machine)) adopt(owned, machine, offer);
    else if (sweeping.has(machine.name) || mayBeLaunched(base, machine) || !by.orphans.isDue(orphan)) continue;
    else byOffer.set(offer, [...(byOffer.get(offer) ?? []), machine]);
  }
  for (const [offer, machines] of byOffer) sweepAway(by, offer, machines);
}

// Clouds tell whole seconds, and their clocks are not ours.
const CLOCK_ERROR_MS = 60_000;

/** Whether an open launch may have made it under a name of its cloud's choosing: the answer to that will tell. */
function mayBeLaunched({ store }: Base, { name, mark, createdAt }: Machine): boolean {
  if (!mark || isLaunchName(name)) return false;
  return Iterator.from(store.view.launches.by('owner', mark.owner)).some(
    (launch) => launch.mark.shape === mark.shape && createdAt >= launch.askedAt - CLOCK_ERROR_MS,
  );
}

/** The very offer that made it, or another way into the same cloud. */
function offerFor(base: Base, cloud: string, mark: Mark): Offer | undefined {
  const offers = [...base.clouds.offersOf(cloud)];
  return offers.findLast((offer) => isMadeFrom(base, offer, mark)) ?? offers.at(-1);
}

function adopt(owned: OwnedMachines, machine: Machine, offer: Offer): void {
  const { log, commit } = owned.base;
  const changes = owned.adopt(machine, offer);
  if (changes.length > 0) return commit(changes);
  const about = { machine: machine.name, [owned.noun]: machine.mark?.owner };
  log('warn', `machine of an unknown ${owned.noun}, not deleted`, about);
}

function sweepAway({ base, sweeping }: Review, offer: Offer, machines: readonly Machine[]): void {
  const { clouds, stopping, log, journal, commit } = base;
  for (const { name } of machines) sweeping.add(name);
  base.start('sweep', async () => {
    const owner = `sweep of ${offer.id}`;
    const outcomes = await clouds.delete(offer, machines, { owner, signal: stopping }).catch((thrown) => {
      const fault = Fault.from(thrown);
      return machines.map(({ name }) => ({ name, fault }));
    });
    for (const { name } of machines) sweeping.delete(name);
    const changes = outcomes.flatMap(({ name, fault }) => {
      if (fault) {
        log('warn', 'cannot delete orphaned machine', { machine: name, kind: fault.kind, error: fault.message });
        return [];
      }
      const message = 'Deleted: the machine has the tags of this cluster and no record.';
      return [journal.event({ kind: 'machine.swept', subject: `machine/${name}`, message })];
    });
    if (changes.length > 0) commit(changes);
  });
}

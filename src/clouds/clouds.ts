import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Log } from '#core/log.ts';
import { startLoop } from '#core/loop.ts';
import type { Offer } from '#core/pool.ts';
import type { Backend, Context, Kinds, Launch, Machine, Outcome, Parking } from '#core/provider.ts';
import type { Random } from '#core/random.ts';
import type { Store } from '#core/store.ts';
import { type CallName, openCaller, type SeenCall } from './caller.ts';
import { openFollowing } from './following.ts';
import { openForms } from './forms.ts';
import type { Listing } from './listing.ts';
import { startListings } from './listings.ts';
import { startOpening } from './opening.ts';

export interface CloudsDeps {
  readonly kinds: Kinds<Backend>;
  readonly context: Context;
  readonly store: Pick<Store, 'durable' | 'leaseLeftMs'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** One for each call that left, when it has ended. */
  observe?(seen: SeenCall): void;
  readonly timeoutsMs?: Partial<Record<CallName, number>>;
}

/** Who calls, and how to stop. */
export interface CallOf {
  /** The id of the pool or computer that the call is for: no owner takes all of a cloud's calls. */
  readonly owner: string;
  readonly signal: AbortSignal;
  /** Called right before it leaves the process: until then the cloud has heard nothing. */
  leaving?(): void;
}

export interface CloudStatus {
  readonly cloud: string;
  readonly lastGoodAt?: number | undefined;
  readonly machines: number;
  readonly fault?: Fault | undefined;
}

/** The only way to a backend. */
export interface Clouds {
  /** Keeps the clouds of these offers open and listed for that follower, at least this often. No offers: no longer. */
  follow(follower: string, offers: readonly Offer[], everyMs: number): void;
  /** Who follows any offer of that cloud. */
  followers(cloud: string): Iterable<string>;
  /** Whether that follower follows an offer of that cloud. */
  isFollowing(follower: string, cloud: string): boolean;
  /** The cloud of an offer, once that is open. */
  cloudOf(offer: string): string | undefined;
  /** The open offers of a cloud. */
  offersOf(cloud: string): Iterable<Offer>;
  /** The last good listing of that offer's cloud. */
  listing(offer: string): Listing | undefined;
  /** Why that offer's cloud could not be opened or listed last time. */
  fault(offer: string): Fault | undefined;
  /** Whether listings of that kind are never late. */
  isExact(kind: string): boolean;
  /** How many machines that kind makes by one call, where it says so. */
  batchOf(kind: string): number | undefined;
  /** Lists that offer's cloud again soon. */
  refresh(offer: string): void;
  onListing(heard: (listing: Listing) => void): void;
  /** The cloud of an offer is open. */
  onOpen(heard: (offer: string, followers: Iterable<string>) => void): void;
  /** A cloud cannot be opened or listed, for a new reason. */
  onFault(heard: (followers: Iterable<string>, offers: Iterable<string>) => void): void;
  /** An offer comes to something else than before. */
  onForm(heard: (offer: string) => void): void;
  create(offer: Offer, launch: Launch, by: CallOf): Promise<readonly Outcome[]>;
  delete(offer: Offer, machines: readonly Machine[], by: CallOf): Promise<readonly Outcome[]>;
  /** Stops machines and keeps them, or wakes them again; only where `parkingOf` says so. */
  park(
    offer: Offer,
    machines: readonly Machine[],
    by: CallOf & { readonly call: 'suspend' | 'resume' },
  ): Promise<readonly Outcome[]>;
  /** How an open offer keeps idle machines, where it does. */
  parkingOf(offer: string): Pick<Parking, 'most' | 'maxAgeMs'> | undefined;
  /** What an open offer's configuration came to when that was last asked. */
  formOf(offer: string): string | undefined;
  status(): readonly CloudStatus[];
  stop(): Promise<void>;
}

const TIMEOUTS_MS: Readonly<Record<CallName, number>> = {
  list: 60_000,
  create: 120_000,
  delete: 120_000,
  suspend: 120_000,
  resume: 120_000,
  report: 30_000,
};

export function openClouds(deps: CloudsDeps): Clouds {
  const { clock, random, log } = deps;
  const timeoutsMs = { ...TIMEOUTS_MS, ...deps.timeoutsMs };
  const caller = openCaller(deps);
  const opening = startOpening(deps);
  const following = openFollowing();
  const offersByCloud = new Map<string, Set<string>>();
  const openFaults = new Map<string, Fault>();
  const heards = new Set<(listing: Listing) => void>();
  const openHeards = new Set<(offer: string, followers: Iterable<string>) => void>();
  const faultHeards = new Set<(followers: Iterable<string>, offers: Iterable<string>) => void>();
  const formHeards = new Set<(offer: string) => void>();
  const stopping = new AbortController();

  const offerIds = (cloud: string): ReadonlySet<string> => offersByCloud.get(cloud) ?? new Set();
  const cloudOf = (offer: string): string | undefined => opening.get(offer)?.backend.cloud;

  function tellFault(offers: Iterable<string>): void {
    const followers = [...following.followers(offers)];
    for (const heard of faultHeards) heard(followers, offers);
  }

  const forms = openForms({
    *backends(cloud) {
      for (const id of offerIds(cloud)) {
        const opened = opening.get(id);
        if (opened) yield [id, opened.backend];
      }
    },
    changed(offer) {
      for (const heard of formHeards) heard(offer);
    },
    signal: stopping.signal,
    log,
  });

  const listings = startListings({
    clock,
    random,
    log,
    cluster: deps.context.cluster,
    list(cloud, signal) {
      // The newest: where credentials rotate, an older offer may bear one that is refused by now.
      const offer = [...offerIds(cloud)].at(-1);
      const opened = opening.get(offer ?? '');
      if (!opened) throw new Fault('unavailable', `No offer of ${cloud} is open.`);
      const call = { name: 'list', cloud, owner: '', timeoutMs: timeoutsMs.list, signal } as const;
      return caller.call(call, (ending) => opened.backend.list(ending));
    },
    everyMs: (cloud) => following.everyMs(offerIds(cloud)),
    heard(listing) {
      forms.refresh(listing.cloud);
      for (const heard of heards) heard(listing);
    },
    failed: (cloud) => tellFault(offerIds(cloud)),
  });

  const opener = startLoop({
    name: 'offers',
    clock,
    random,
    log,
    async reconcile(id, signal) {
      const offer = following.offer(id);
      if (offer && !opening.get(id)) await open(offer, signal);
    },
    failed(id, fault) {
      const isNew = openFaults.get(id)?.message !== fault.message;
      openFaults.set(id, fault);
      if (isNew) tellFault([id]);
    },
  });

  /** The published limits, as many times as the account has them. */
  function limitsOf(cloud: string, { read, write }: { readonly read: number; readonly write: number }) {
    const factor = deps.context.rates?.[cloud.split(':')[0] ?? ''] ?? 1;
    return { read: read * factor, write: write * factor };
  }

  async function open(offer: Offer, signal: AbortSignal): Promise<Backend> {
    const { backend, kind } = await opening.open(offer, signal);
    openFaults.delete(offer.id);
    const offers = offersByCloud.get(backend.cloud) ?? new Set();
    if (!offers.has(offer.id)) {
      offersByCloud.set(backend.cloud, offers.add(offer.id));
      if (kind.limits) caller.limit(backend.cloud, limitsOf(backend.cloud, kind.limits));
      listings.refresh(backend.cloud);
      for (const heard of openHeards) heard(offer.id, [...following.followers([offer.id])]);
    }
    return backend;
  }

  function close(offer: string): void {
    const cloud = cloudOf(offer);
    openFaults.delete(offer);
    forms.forget(offer);
    opener.forget(offer);
    void opening.close(offer);
    if (cloud === undefined) return;
    const offers = offersByCloud.get(cloud);
    offers?.delete(offer);
    if (offers?.size !== 0) return;
    offersByCloud.delete(cloud);
    listings.forget(cloud);
    caller.forget(cloud);
  }

  async function write<T>(
    name: Exclude<CallName, 'list'>,
    { offer, by }: { offer: Offer; by: CallOf },
    run: (backend: Backend, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    if (stopping.signal.aborted) throw new Fault('unavailable', 'The server is stopping.');
    const backend = await open(offer, stopping.signal);
    const call = { ...by, name, cloud: backend.cloud, timeoutMs: timeoutsMs[name] };
    return caller.call(call, (signal) => run(backend, signal));
  }

  function statusOf(cloud: string): CloudStatus {
    const last = listings.last(cloud);
    return { cloud, lastGoodAt: last?.endedAt, machines: last?.machines.size ?? 0, fault: listings.fault(cloud) };
  }

  return {
    follow(follower, offers, everyMs) {
      for (const id of following.set(follower, offers, everyMs)) close(id);
      for (const { id } of offers) {
        const cloud = cloudOf(id);
        if (cloud === undefined) opener.poke(id);
        else listings.atLeastEvery(cloud, everyMs);
      }
    },
    followers: (cloud) => following.followers(offerIds(cloud)),
    isFollowing: (follower, cloud) => following.isFollowing(follower, offerIds(cloud)),
    cloudOf,
    *offersOf(cloud) {
      for (const id of offerIds(cloud)) {
        const opened = opening.get(id);
        if (opened) yield opened.offer;
      }
    },
    listing(offer) {
      const cloud = cloudOf(offer);
      return cloud === undefined ? undefined : listings.last(cloud);
    },
    fault(offer) {
      const cloud = cloudOf(offer);
      return cloud === undefined ? openFaults.get(offer) : listings.fault(cloud);
    },
    isExact: (kind) => deps.kinds[kind]?.isLocal === true,
    batchOf: (kind) => deps.kinds[kind]?.batch,
    refresh(offer) {
      const cloud = cloudOf(offer);
      if (cloud !== undefined) listings.refresh(cloud);
    },
    onListing: (heard) => void heards.add(heard),
    onOpen: (heard) => void openHeards.add(heard),
    onFault: (heard) => void faultHeards.add(heard),
    onForm: (heard) => void formHeards.add(heard),
    create: (offer, launch, by) => write('create', { offer, by }, (backend, signal) => backend.create(launch, signal)),
    delete: (offer, machines, by) =>
      write('delete', { offer, by }, (backend, signal) => backend.delete(machines, signal)),
    park: (offer, machines, { call, ...by }) =>
      write(call, { offer, by }, async (backend, signal) => {
        if (!backend.park) throw new Fault('unsupported', `${offer.kind} cannot ${call} machines.`);
        return backend.park[call](machines, signal);
      }),
    parkingOf(offer) {
      const parking = opening.get(offer)?.backend.park;
      return parking && parking.most > 0 ? parking : undefined;
    },
    formOf: forms.of,
    status: () => [...offersByCloud.keys()].map(statusOf),
    async stop() {
      stopping.abort();
      await Promise.all([opener.stop(), listings.stop()]);
      await opening.closeAll();
    },
  };
}

import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Log } from '#core/log.ts';
import { startLoop } from '#core/loop.ts';
import type { Offer } from '#core/pool.ts';
import type { Backend, Context, Kinds, Launch, Machine, Outcome, Parking, PendingCreate } from '#core/provider.ts';
import type { Random } from '#core/random.ts';
import { openFollowing } from './following.ts';
import { openFormsAndPrices } from './form-and-price.ts';
import type { Gate } from './gate.ts';
import type { Listing } from './listing.ts';
import { startListings } from './listings.ts';
import { openKinds } from './open-kinds.ts';
import { openWatching } from './watching.ts';

type CallName = 'list' | 'check' | 'create' | 'delete' | 'suspend' | 'resume';

export interface CloudsDeps {
  readonly kinds: Kinds<Backend>;
  readonly context: Context;
  /** Makes the agent ready for machines that have none. */
  readonly packAgent?: (() => Promise<void>) | undefined;
  readonly gate: Gate;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** The name of the pool that follows offers under that id, for the log; undefined: no pool does. */
  readonly poolName?: ((follower: string) => string | undefined) | undefined;
  readonly timeoutsMs?: Partial<Record<CallName, number>>;
}

/** Owner of the call, and its abort signal. */
export interface CallOf {
  /** Id of the pool or computer that the call is for: no owner may use up the call budget of a cloud. */
  readonly owner: string;
  readonly signal: AbortSignal;
  /** Called once the cloud is open: what is committed in it is durable before the call is sent. */
  opened?(): void;
  /** Called right before the call is sent: until then the cloud knows nothing of it. */
  leaving?(): void;
}

/** The last good listing of one cloud, and the fault of the last listing where that failed. */
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
  /** Where the machines of an offer are, once it is open: two clouds may list the same place. */
  placeOf(offer: string): string | undefined;
  /** The open offers of a cloud. */
  offersOf(cloud: string): Iterable<Offer>;
  /** The last good listing of that offer's cloud. */
  listing(offer: string): Listing | undefined;
  /** A machine of that offer's cloud: as last listed, or newer where the kind follows its cloud. */
  machine(offer: string, name: string): Machine | undefined;
  /** Why that offer's cloud could not be opened or listed last time. */
  fault(offer: string): Fault | undefined;
  /** Whether listings of that offer's cloud are never late. */
  isExact(offer: Offer): boolean;
  /** Whether machines of that kind cost nothing: they are on this machine. */
  isFree(kind: string): boolean;
  /** Whether that offer's cloud may put another machine under a name that it has. */
  reusesNames(offer: string): boolean;
  /** Largest number of machines per call of that kind, if it has a limit. */
  batchOf(kind: string): number | undefined;
  /** Lists that offer's cloud again soon. */
  refresh(offer: string): void;
  onListing(heard: (listing: Listing) => void): void;
  /** The cloud of an offer is open. */
  onOpen(heard: (offer: string, followers: Iterable<string>) => void): void;
  /** A cloud cannot be opened or listed, for a new reason. */
  onFault(heard: (followers: Iterable<string>, offers: Iterable<string>) => void): void;
  /** An offer resolves to another form than before. */
  onForm(heard: (offer: string) => void): void;
  /** An offer has another price than before, or its first since it was opened. */
  onPrice(heard: (offer: string) => void): void;
  create(offer: Offer, launch: Launch, by: CallOf): Promise<readonly Outcome[]>;
  /** How pending creations ended; where the kind cannot tell, all of them are unknown. */
  check(offer: Offer, pending: readonly PendingCreate[], by: CallOf): Promise<readonly Outcome[]>;
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
  /** What a machine of an open offer costs, in dollars an hour, where its cloud has prices. */
  priceOf(offer: string): number | undefined;
  status(): readonly CloudStatus[];
  stop(): Promise<void>;
}

const TIMEOUTS_MS: Readonly<Record<CallName, number>> = {
  list: 60_000,
  check: 60_000,
  create: 120_000,
  delete: 120_000,
  suspend: 120_000,
  resume: 120_000,
};

const MOST_IN_LOG = 3;

export function openClouds(deps: CloudsDeps): Clouds {
  const { clock, random, log } = deps;
  const timeoutsMs = { ...TIMEOUTS_MS, ...deps.timeoutsMs };
  const opening = openKinds({ ...deps, noun: 'backend' });
  const following = openFollowing();
  const offersByCloud = new Map<string, Set<string>>();
  const openFaults = new Map<string, Fault>();
  const heards = new Set<(listing: Listing) => void>();
  const openHeards = new Set<(offer: string, followers: Iterable<string>) => void>();
  const faultHeards = new Set<(followers: Iterable<string>, offers: Iterable<string>) => void>();
  const formHeards = new Set<(offer: string) => void>();
  const priceHeards = new Set<(offer: string) => void>();
  const stopping = new AbortController();

  const offerIds = (cloud: string): ReadonlySet<string> => offersByCloud.get(cloud) ?? new Set();
  /** The newest: after a rotation, an older offer may have a credential that the cloud refuses now. */
  function newestOffer(cloud: string): string {
    let newest = '';
    for (const id of offerIds(cloud)) newest = id;
    return newest;
  }

  const cloudOf = (offer: string): string | undefined => opening.get(offer)?.it.cloud;

  /** Which pools a failure concerns: ids say nothing to those who read the log. */
  function poolsInLog(offers: Iterable<string>): { readonly pool?: string } {
    const names = [...following.followers(offers)].flatMap((follower) => deps.poolName?.(follower) ?? []);
    const more = names.length > MOST_IN_LOG ? ` and ${names.length - MOST_IN_LOG} more` : '';
    return names.length === 0 ? {} : { pool: `${names.slice(0, MOST_IN_LOG).join(', ')}${more}` };
  }

  function tellFault(offers: Iterable<string>): void {
    const followers = [...following.followers(offers)];
    for (const heard of faultHeards) heard(followers, offers);
  }

  function* backends(cloud: string): Iterable<readonly [string, Backend]> {
    for (const id of offerIds(cloud)) {
      const opened = opening.get(id);
      if (opened) yield [id, opened.it];
    }
  }

  const resolved = openFormsAndPrices({
    clock,
    log,
    backends,
    ask(id, name, run) {
      const { chosen } = opening.get(id) ?? {};
      if (!chosen) throw new Fault('unavailable', `The offer ${id} is not open.`);
      const by = { name, is: 'read', owner: id, signal: stopping.signal, budget: 'own' } as const;
      return opening.call(chosen, by, run);
    },
    changed(offer) {
      for (const heard of formHeards) heard(offer);
    },
    priceChanged(offer) {
      for (const heard of priceHeards) heard(offer);
    },
  });

  const listings = startListings({
    clock,
    random,
    log,
    cluster: deps.context.cluster,
    list(cloud, signal) {
      const opened = opening.get(newestOffer(cloud));
      if (!opened) throw new Fault('unavailable', `No offer of ${cloud} is open.`);
      const by = { name: 'list', is: 'read', owner: '', timeoutMs: timeoutsMs.list, signal } as const;
      return opening.call(opened.chosen, by, (backend, ending) => backend.list(ending));
    },
    everyMs: (cloud) => following.everyMs(offerIds(cloud)),
    leastGapMs: (cloud) => opening.get(newestOffer(cloud))?.it.leastGapMs,
    heard(listing) {
      resolved.refresh(listing.cloud);
      for (const heard of heards) heard(listing);
    },
    logged: (cloud) => ({ cloud, ...poolsInLog(offerIds(cloud)) }),
    failed: (cloud) => tellFault(offerIds(cloud)),
  });

  const watching = openWatching({ backends, changed: (cloud) => listings.hinted(cloud), log });

  const opener = startLoop({
    name: 'offers',
    clock,
    random,
    log,
    async reconcile(id, signal) {
      const offer = following.offer(id);
      if (offer && !opening.get(id)) await open(offer, signal);
    },
    logged: (id) => ({ ...poolsInLog([id]), backend: following.offer(id)?.kind ?? id }),
    failed(id, fault) {
      const isNew = openFaults.get(id)?.message !== fault.message;
      openFaults.set(id, fault);
      if (isNew) tellFault([id]);
    },
  });

  async function open(offer: Offer, signal: AbortSignal): Promise<Backend> {
    if (deps.kinds[offer.kind]?.boots === 'script' && !opening.get(offer.id)) await deps.packAgent?.();
    const { it: backend } = await opening.open(offer, signal);
    openFaults.delete(offer.id);
    const offers = offersByCloud.get(backend.cloud) ?? new Set();
    if (!offers.has(offer.id)) {
      offersByCloud.set(backend.cloud, offers.add(offer.id));
      resolved.opened(backend.cloud);
      listings.refresh(backend.cloud);
      if (backend.watch) watching.look(backend.cloud);
      for (const heard of openHeards) heard(offer.id, [...following.followers([offer.id])]);
    }
    return backend;
  }

  function close(offer: string): void {
    const cloud = cloudOf(offer);
    openFaults.delete(offer);
    resolved.forget(offer);
    opener.forget(offer);
    void opening.close(offer);
    if (cloud === undefined) return;
    const offers = offersByCloud.get(cloud);
    offers?.delete(offer);
    watching.look(cloud);
    if (offers?.size !== 0) return;
    offersByCloud.delete(cloud);
    listings.forget(cloud);
  }

  async function write<T>(
    name: Exclude<CallName, 'list' | 'check'>,
    { offer, by }: { offer: Offer; by: CallOf },
    run: (backend: Backend, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    if (stopping.signal.aborted) throw new Fault('unavailable', 'The server is stopping.');
    await open(offer, stopping.signal);
    by.opened?.();
    return opening.call(offer, { ...by, name, is: 'write', timeoutMs: timeoutsMs[name] }, run);
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
    placeOf(offer) {
      const { cloud, place = cloud } = opening.get(offer)?.it ?? {};
      return place;
    },
    *offersOf(cloud) {
      for (const id of offerIds(cloud)) {
        const opened = opening.get(id);
        if (opened) yield opened.chosen as Offer;
      }
    },
    listing(offer) {
      const cloud = cloudOf(offer);
      return cloud === undefined ? undefined : listings.last(cloud);
    },
    machine(offer, name) {
      const { it } = opening.get(offer) ?? {};
      return it && (it.known?.(name) ?? listings.last(it.cloud)?.machines.get(name));
    },
    fault(offer) {
      const cloud = cloudOf(offer);
      return cloud === undefined ? openFaults.get(offer) : listings.fault(cloud);
    },
    isExact: ({ id, kind }) => deps.kinds[kind]?.isLocal === true || opening.get(id)?.it.isExact === true,
    isFree: (kind) => deps.kinds[kind]?.isLocal === true,
    reusesNames: (offer) => opening.get(offer)?.it.reusesNames === true,
    batchOf: (kind) => deps.kinds[kind]?.batch,
    refresh(offer) {
      const cloud = cloudOf(offer);
      if (cloud !== undefined) listings.refresh(cloud);
    },
    onListing: (heard) => void heards.add(heard),
    onOpen: (heard) => void openHeards.add(heard),
    onFault: (heard) => void faultHeards.add(heard),
    onForm: (heard) => void formHeards.add(heard),
    onPrice: (heard) => void priceHeards.add(heard),
    create: (offer, launch, by) => write('create', { offer, by }, (backend, signal) => backend.create(launch, signal)),
    async check(offer, pending, by) {
      await open(offer, stopping.signal);
      const call = { ...by, name: 'check', is: 'read', timeoutMs: timeoutsMs.check } as const;
      return opening.call(offer, call, async (backend, signal) => backend.check?.(pending, signal) ?? []);
    },
    delete: (offer, machines, by) =>
      write('delete', { offer, by }, (backend, signal) => backend.delete(machines, signal)),
    park: (offer, machines, { call, ...by }) =>
      write(call, { offer, by }, async (backend, signal) => {
        if (!backend.park) throw new Fault('unsupported', `${offer.kind} cannot ${call} machines.`);
        return backend.park[call](machines, signal);
      }),
    parkingOf(offer) {
      const parking = opening.get(offer)?.it.park;
      return parking && parking.most > 0 ? parking : undefined;
    },
    formOf: resolved.formOf,
    priceOf: resolved.priceOf,
    status: () => [...offersByCloud.keys()].map(statusOf),
    async stop() {
      stopping.abort();
      watching.stop();
      await Promise.all([opener.stop(), listings.stop()]);
      await opening.closeAll();
    },
  };
}

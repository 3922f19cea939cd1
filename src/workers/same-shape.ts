// Credentials and limits form no machine: where only they changed, the workers stay and go by the new offer.
import type { Offer, Pool, PoolSpec } from '#core/pool.ts';
import { type Change, put } from '#core/store.ts';
import { launchesGoBy } from '#machines/launch.ts';
import { keepOffer } from '#machines/offers.ts';
import type { Base } from '#machines/owned-machines.ts';
import type { WorkersContext } from './context.ts';

/** What tells which offers make the same machines. */
export type OfferWorld = Pick<Base, 'store' | 'clouds' | 'offerShape'>;

export const hasOffer = ({ offers }: PoolSpec, offer: string): boolean => offers.some(({ id }) => id === offer);

/** The offer of the definition that makes the same machines in the same place as one that it no longer has. */
export function successorOf(
  { store, clouds, offerShape }: OfferWorld,
  spec: PoolSpec,
  offer: string,
): Offer | undefined {
  const before = store.view.offers.get(offer);
  if (!before) return undefined;
  const [shape, place] = [offerShape(before), clouds.placeOf(offer)];
  return spec.offers.find((one) => {
    const its = clouds.placeOf(one.id);
    // Until both are open it is unknown whether they are of one account: then nothing is done yet.
    const isElsewhere = place !== undefined && its !== undefined && its !== place;
    return one.kind === before.kind && !isElsewhere && offerShape(one) === shape;
  });
}

/** The offer that a worker counts for: its own, or what stands in its place in the definition. */
export function offerNow(world: OfferWorld, spec: PoolSpec | undefined, offer: string | undefined): string | undefined {
  if (offer === undefined || spec === undefined || hasOffer(spec, offer)) return offer;
  return successorOf(world, spec, offer)?.id ?? offer;
}

/**
 * Whether workers may go by the successor: it opened the very same place, or the old credential opens nothing any more.
 * Without that, another account would be asked for machines that it never had, and would call them gone.
 */
function isProven({ clouds, offerShape }: OfferWorld, spec: PoolSpec, offer: string, successor: Offer): boolean {
  const place = clouds.placeOf(successor.id);
  if (place === undefined) return false;
  if (clouds.placeOf(offer) === place) return true;
  const shape = offerShape(successor);
  const isOnly = spec.offers.filter((one) => offerShape(one) === shape).length === 1;
  return isOnly && clouds.fault(offer)?.kind === 'denied';
}

/** Lets the workers and launches of a pool go by the offers that its definition has now. */
function carryOver({ owned, store, log }: WorkersContext, { id: pool, spec }: Pool): void {
  const { view } = store;
  const successors = new Map<string, Offer | undefined>();
  const successorFor = (offer: string | undefined): Offer | undefined => {
    if (offer === undefined || hasOffer(spec, offer)) return undefined;
    if (!successors.has(offer)) {
      const found = successorOf(owned.base, spec, offer);
      successors.set(offer, found && isProven(owned.base, spec, offer, found) ? found : undefined);
    }
    return successors.get(offer);
  };
  const changes: Change[] = [];
  for (const worker of view.workers.by('pool', pool)) {
    const successor = successorFor(worker.offer);
    if (successor) changes.push(put('workers', { ...worker, offer: successor.id }));
  }
  changes.push(...launchesGoBy(owned, pool, (offer) => successorFor(offer)?.id));
  // What is open now may also show that they are of another account, and have to be replaced.
  if (successors.size > 0) owned.poke(pool);
  if (changes.length === 0) return;
  const kept = new Set(successors.values().filter((one) => one !== undefined));
  log('info', 'workers moved to an offer of the same shape', { pool, changes: changes.length });
  owned.base.commit([...[...kept].flatMap((offer) => keepOffer(store, offer)), ...changes]);
}

/** Pools whose workers still go by an offer that their definition no longer has. */
function* poolsThatHad({ store }: WorkersContext, offer: string): Iterable<Pool> {
  const seen = new Set<string>();
  for (const { pool: id } of store.view.workers.by('offer', offer)) {
    if (seen.has(id)) continue;
    seen.add(id);
    const pool = store.view.pools.get(id);
    if (pool && !hasOffer(pool.spec, offer)) yield pool;
  }
}

/** Carries workers over when a definition changes, and when a cloud opens or refuses a credential. */
export function followSameShape(context: WorkersContext): () => void {
  const { store, clouds } = context;
  const carryFrom = (offer: string): void => {
    for (const pool of [...poolsThatHad(context, offer)]) carryOver(context, pool);
  };
  clouds.onOpen((offer, followers) => {
    carryFrom(offer);
    for (const follower of followers) {
      const pool = store.view.pools.get(follower);
      if (pool) carryOver(context, pool);
    }
  });
  clouds.onFault((_followers, offers) => {
    for (const offer of offers) if (clouds.cloudOf(offer) === undefined) carryFrom(offer);
  });
  return store.onChange('pools', (after, before) => {
    if (after && before && after.spec !== before.spec) carryOver(context, after);
  });
}

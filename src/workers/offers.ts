import { offerShapeIn } from '#core/mark.ts';
import type { Offer, Pool, PoolSpec } from '#core/pool.ts';
import type { Mark } from '#core/provider.ts';
import { drop } from '#core/store.ts';
import type { Worker } from '#core/worker.ts';
import type { Kit } from './kit.ts';
import { followSameShape, offerNow } from './same-shape.ts';

/** Whether a worker was made from an older definition of its pool, or the definition now comes to another form. */
export function isOutdated(kit: Kit, { spec }: Pool, { offer, form }: Worker): boolean {
  if (offer === undefined) return false;
  const now = offerNow(kit, spec, offer) ?? offer;
  if (!spec.offers.some(({ id }) => id === now)) return true;
  const current = form === undefined ? undefined : kit.clouds.formOf(now);
  return current !== undefined && current !== form;
}

/** What a machine of that offer costs in dollars an hour: as the pool says, else as its cloud does. */
export function priceOf({ clouds }: Pick<Kit, 'clouds'>, { terms }: PoolSpec, offer: string): number | undefined {
  return terms?.[offer]?.pricePerHour ?? clouds.priceOf(offer);
}

/** Whether a machine with this mark was made from that offer. Marks of older versions carry the id of the offer. */
export function isMadeFrom({ offerShape }: Pick<Kit, 'offerShape'>, offer: Offer, { shape }: Mark): boolean {
  const made = offerShapeIn(shape);
  return made === offer.id || made === offerShape(offer);
}

const SYNC_OF_OLD_OFFERS_MS = 60_000;
const followerOf = (offer: string): string => `offer/${offer}`;

/** Keeps the clouds listed that pools launch from, and those where machines of older definitions still are. */
export function followOffers(kit: Kit): { stop(): void } {
  const { store, clouds, clock, times } = kit;
  const followPool = (pool: Pool): void => clouds.follow(pool.id, pool.spec.offers, pool.spec.scaling.syncEveryMs);
  const stops = [
    store.onChange('pools', (after, before, id) => {
      if (!after) clouds.follow(id, [], 0);
      else if (after.spec !== before?.spec) followPool(after);
    }),
    store.onChange('offers', (after, before, id) => {
      if (!before || !after) clouds.follow(followerOf(id), after ? [after] : [], SYNC_OF_OLD_OFFERS_MS);
    }),
  ];
  for (const offer of store.view.offers.all()) clouds.follow(followerOf(offer.id), [offer], SYNC_OF_OLD_OFFERS_MS);
  for (const pool of store.view.pools.all()) followPool(pool);

  const sameShape = followSameShape(kit);

  let unused = new Set<string>();
  let cancel = clock.alarm(times.tidyOffersMs, tidy);
  /** An offer goes when two looks in a row found nobody who uses it, and its cloud shows nothing made from it. */
  function tidy(): void {
    const found = unusedOffers(kit);
    const gone = [...found].filter((id) => unused.has(id));
    if (gone.length > 0) kit.commit(gone.map((id) => drop('offers', id)));
    unused = found;
    cancel = clock.alarm(times.tidyOffersMs, tidy);
  }

  return {
    stop() {
      cancel();
      sameShape.stop();
      for (const stop of stops) stop();
    },
  };
}

function unusedOffers(kit: Kit): Set<string> {
  const { store, clouds } = kit;
  const { offers, pools, workers, launches } = store.view;
  const used = new Set<string>();
  for (const pool of pools.all()) for (const { id } of pool.spec.offers) used.add(id);
  for (const { offer } of launches.all()) used.add(offer);
  const found = new Set<string>();
  for (const offer of offers.all()) {
    const { id } = offer;
    if (used.has(id) || workers.count('offer', id) > 0) continue;
    const listing = clouds.listing(id);
    const isLeft =
      listing?.machines.values().some(({ mark }) => mark !== undefined && isMadeFrom(kit, offer, mark)) ?? true;
    if (!isLeft) found.add(id);
  }
  return found;
}

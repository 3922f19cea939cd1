// Offers are kept for as long as a machine of them may exist, so that it can be deleted where it was made.
import { offerShapeIn } from '#core/mark.ts';
import type { KeptOffer, Offer } from '#core/pool.ts';
import type { Mark } from '#core/provider.ts';
import { type Change, drop, put, type Store } from '#core/store.ts';
import type { Base, OwnedMachines } from './owned-machines.ts';

const SYNC_OF_OLD_OFFERS_MS = 60_000;
const followerOf = (offer: string): string => `offer/${offer}`;

/** What keeps an offer durable before anything is asked of its cloud, with the price that its first machine counts by. */
export function keepUncalled({ store, clouds, clock }: Base, offer: Offer): Change[] {
  if (store.view.offers.get(offer.id)) return [];
  const perHour = clouds.priceOf(offer.id);
  const prices = perHour === undefined ? undefined : [{ from: clock.now(), perHour }];
  return [put('offers', { ...offer, uncalledSince: clock.now(), prices })];
}

/** What keeps an offer durable from which its cloud may have made machines, or is about to. */
export function keepOffer({ view }: Store, offer: Offer): Change[] {
  const { uncalledSince, ...kept }: KeptOffer = view.offers.get(offer.id) ?? { ...offer, uncalledSince: 0 };
  return uncalledSince === undefined ? [] : [put('offers', kept)];
}

/** Whether a machine with this mark was made from that offer. Marks of older versions carry the id of the offer. */
export function isMadeFrom({ offerShape }: Pick<Base, 'offerShape'>, offer: Offer, { shape }: Mark): boolean {
  const made = offerShapeIn(shape);
  return made === offer.id || made === offerShape(offer);
}

/** Keeps the clouds of all kept offers listed: machines of older definitions may still be there. */
export function followOffers(base: Base, features: () => Iterable<OwnedMachines>): { stop(): void } {
  const { store, clouds, clock, times } = base;
  const stopListening = store.onChange('offers', (after, before, id) => {
    if (!before || !after) clouds.follow(followerOf(id), after ? [after] : [], SYNC_OF_OLD_OFFERS_MS);
  });
  for (const offer of store.view.offers.all()) clouds.follow(followerOf(offer.id), [offer], SYNC_OF_OLD_OFFERS_MS);

  clouds.onPrice((id) => base.commit(priceChanges(base, id)));

  let unused = new Set<string>();
  let cancel = clock.alarm(times.tidyOffersMs, tidy);
  /** An offer goes when two looks in a row found that nothing uses it, and that nothing made from it is left. */
  function tidy(): void {
    const found = unusedOffers(base, [...features()]);
    const gone = [...found].filter((id) => unused.has(id));
    if (gone.length > 0) base.commit(gone.map((id) => drop('offers', id)));
    unused = found;
    cancel = clock.alarm(times.tidyOffersMs, tidy);
  }

  return {
    stop() {
      cancel();
      stopListening();
    },
  };
}

// Prices are asked for once an hour, and most change a few times a day.
const MOST_PRICES = 200;

/** A kept offer keeps what its machines cost and cost before: they outlive the process. */
function priceChanges({ store, clouds, clock }: Base, id: string): Change[] {
  const offer = store.view.offers.get(id);
  const perHour = clouds.priceOf(id);
  if (!offer || perHour === undefined || offer.prices?.at(-1)?.perHour === perHour) return [];
  const prices = [...(offer.prices ?? []), { from: clock.now(), perHour }].slice(-MOST_PRICES);
  return [put('offers', { ...offer, prices })];
}

/** A backup does not know what was sent after it. */
function isUncalled({ store }: Base, { uncalledSince }: KeptOffer): boolean {
  return uncalledSince !== undefined && (store.restoredAt === undefined || store.restoredAt < uncalledSince);
}

function unusedOffers(base: Base, features: readonly OwnedMachines[]): Set<string> {
  const { store, clouds } = base;
  const { offers, launches } = store.view;
  // Most offers have machines, and most often all of them have: then the owners need not be asked.
  const empty = [...offers.all()].filter(({ id }) => !features.some((owned) => owned.hasRowsOf(id)));
  const found = new Set<string>();
  if (empty.length === 0) return found;
  const used = new Set<string>();
  for (const owned of features) for (const offer of owned.offersInUse()) used.add(offer);
  for (const { offer } of launches.all()) used.add(offer);
  for (const offer of empty) {
    const { id } = offer;
    if (used.has(id)) continue;
    const machines = clouds.listing(id)?.machines.values();
    // Nothing is known of a cloud that has not been listed, unless nothing was ever asked of it.
    const isLeft =
      machines?.some(({ mark }) => mark !== undefined && isMadeFrom(base, offer, mark)) ?? !isUncalled(base, offer);
    if (!isLeft) found.add(id);
  }
  return found;
}

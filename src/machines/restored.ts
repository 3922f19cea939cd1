// A restored store may lack machines that exist and run sessions: they are looked for first.
import type { Offer } from '#core/pool.ts';
import type { Machine } from '#core/provider.ts';
import type { Base } from './owned-machines.ts';

/** Then nothing proves that it was not asked for. */
export function isOlderThanBackup({ store }: Pick<Base, 'store'>, { createdAt }: Pick<Machine, 'createdAt'>): boolean {
  return store.restoredAt !== undefined && createdAt < store.restoredAt;
}

function isUnseen({ store, clouds, isReviewed }: Base, offer: string): boolean {
  return store.restoredAt !== undefined && !isReviewed(clouds.cloudOf(offer) ?? '');
}

/** Whether a cloud of these offers has been listed, and what a backup could not know there has been adopted. */
export function isLookedThrough(base: Base, offers: readonly Offer[]): boolean {
  return offers.some(({ id }) => base.clouds.listing(id) !== undefined && !isUnseen(base, id));
}

/** Whether a cloud of these offers may still show machines that the backup did not know. */
export function mayShowMore(base: Base, offers: readonly Offer[]): boolean {
  return offers.some(({ id }) => isUnseen(base, id));
}

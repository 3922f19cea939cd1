// A store that came from a backup may know nothing of machines that are there and at work: they are looked for first.
import type { Pool } from '#core/pool.ts';
import type { Machine } from '#core/provider.ts';
import type { Kit } from './kit.ts';

/** Then nobody can say that it was not asked for. */
export function isOlderThanBackup({ store }: Kit, { createdAt }: Machine): boolean {
  return store.restoredAt !== undefined && createdAt < store.restoredAt;
}

function isUnseen({ store, clouds, reviewed }: Kit, offer: string): boolean {
  return store.restoredAt !== undefined && !reviewed.has(clouds.cloudOf(offer) ?? '');
}

/** Whether a cloud of that pool has been listed, and what a backup could not know there has been taken in. */
export function isLookedThrough(kit: Kit, { spec }: Pool): boolean {
  return spec.offers.some(({ id }) => kit.clouds.listing(id) !== undefined && !isUnseen(kit, id));
}

/** Whether a cloud of that pool may still show machines that the backup did not know. */
export function mayShowMore(kit: Kit, { spec }: Pool): boolean {
  return spec.offers.some(({ id }) => isUnseen(kit, id));
}

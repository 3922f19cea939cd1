import type { Kit } from './kit.ts';

/** Whether the listing of that offer's cloud shows at once what is; a cloud's may be late, this computer's never is. */
export function isExact({ store, clouds }: Pick<Kit, 'store' | 'clouds'>, offer: string | undefined): boolean {
  const row = store.view.offers.get(offer ?? '');
  return row !== undefined && clouds.isExact(row);
}

/** How late that offer's cloud may show what it has already done. */
export function listLagMs(kit: Pick<Kit, 'store' | 'clouds' | 'times'>, offer: string | undefined): number {
  return isExact(kit, offer) ? 0 : kit.times.listLagMs;
}

/** How long after its making a machine of that offer may be unlisted. */
export function firstListingMs(kit: Kit, offer: string): number {
  return isExact(kit, offer) ? 0 : kit.times.firstListingMs;
}

import type { Base } from './asked.ts';

/** What tells how late listings may be. */
export type Lagging = Pick<Base, 'store' | 'clouds' | 'times'>;

/** Whether the listing of that offer's cloud shows at once what is; a cloud's may be late, this computer's never is. */
export function isExact({ store, clouds }: Pick<Base, 'store' | 'clouds'>, offer: string | undefined): boolean {
  const row = store.view.offers.get(offer ?? '');
  return row !== undefined && clouds.isExact(row);
}

/** How late that offer's cloud may show what it has already done. */
export function listLagMs(base: Lagging, offer: string | undefined): number {
  return isExact(base, offer) ? 0 : base.times.listLagMs;
}

/** How long after its making a machine of that offer may be unlisted. */
export function firstListingMs(base: Lagging, offer: string): number {
  return isExact(base, offer) ? 0 : base.times.firstListingMs;
}

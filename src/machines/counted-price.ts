import type { Clouds } from '#clouds/clouds.ts';
import { countedPrice } from '#core/machine-price.ts';
import type { Offer, Pool } from '#core/pool.ts';
import type { Store } from '#core/store.ts';

export interface PriceWorld {
  readonly store: Pick<Store, 'view'>;
  readonly clouds: Pick<Clouds, 'priceOf' | 'isFree'>;
}

/** What budgets count for a machine of that offer of a pool; undefined: it is not known. */
export function countedPriceOf(
  { store: { view }, clouds }: PriceWorld,
  { owner, spec }: Pool,
  { id, kind }: Pick<Offer, 'id' | 'kind'>,
): number | undefined {
  const stated = spec.terms?.[id]?.pricePerHour;
  const listed = clouds.priceOf(id) ?? view.offers.get(id)?.prices?.at(-1)?.perHour;
  const trust = view.sources.get(owner.source)?.prices;
  return countedPrice({ stated, listed, trust }) ?? (clouds.isFree(kind) ? 0 : undefined);
}

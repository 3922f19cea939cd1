import type { Pool, PoolSpec } from '#core/pool.ts';
import type { Worker } from '#core/worker.ts';
import type { OfferFact } from '../autoscaler/plan.ts';
import type { WorkersContext } from './context.ts';
import { hasOffer, type OfferWorld, offerNow } from './same-shape.ts';

/** Whether a worker was made from an older definition of its pool, or the definition now comes to another form. */
export function isOutdated(world: OfferWorld, { spec }: Pool, worker: Worker): boolean {
  if (worker.offer === undefined) return false;
  const now = offerNow(world, spec, worker.offer) ?? worker.offer;
  return !hasOffer(spec, now) || isOfOtherForm(world, worker, now);
}

/** Whether the offer that a worker counts for now comes to another form than when it was made. */
export function isOfOtherForm(
  { clouds }: Pick<OfferWorld, 'clouds'>,
  { form }: Worker,
  now: string | undefined,
): boolean {
  if (form === undefined || now === undefined) return false;
  const current = clouds.formOf(now);
  return current !== undefined && current !== form;
}

/** What a machine of that offer costs in dollars an hour: as the pool says, else as its cloud does. */
export function priceOf(
  { clouds }: Pick<OfferWorld, 'clouds'>,
  { terms }: PoolSpec,
  offer: string,
): number | undefined {
  return terms?.[offer]?.pricePerHour ?? clouds.priceOf(offer);
}

/** What budgets count for a machine, where that is not the price of the pool. */
export function countedAs(
  counted: number | undefined,
  pricePerHour: number | undefined,
): Pick<OfferFact, 'countedPerHour' | 'isUnpriced'> {
  if (counted === undefined) return { isUnpriced: true };
  return counted === pricePerHour ? {} : { countedPerHour: counted };
}

/** Keeps the clouds listed that pools launch from, and wakes the pools whose offers come to another form. */
export function followPools({ store, clouds }: WorkersContext, poke: (pool: string) => void): () => void {
  const follow = (pool: Pool): void => clouds.follow(pool.id, pool.spec.offers, pool.spec.scaling.syncEveryMs);
  const stopListening = store.onChange('pools', (after, before, id) => {
    if (!after) clouds.follow(id, [], 0);
    else if (after.spec !== before?.spec) follow(after);
  });
  for (const pool of store.view.pools.all()) follow(pool);
  clouds.onForm((offer) => {
    for (const { id, spec } of store.view.pools.all()) if (spec.offers.some((one) => one.id === offer)) poke(id);
  });
  return stopListening;
}

// What the model needs to know of a pool as it is now.
import type { Clouds } from '#clouds/clouds.ts';
import type { Pool, Scaling } from '#core/pool.ts';
import type { Store } from '#core/store.ts';
import type { OfferFact } from '../autoscaler/plan.ts';
import type { OfferSupply } from './model.ts';
import type { ModelPolicy } from './model-question.ts';
import { type PastMachine, supplyOf } from './past.ts';

type View = Pick<Store, 'view'>;

/** In the order of the pool, each with the price that holds now. */
export function offersNow(pool: Pool, clouds: Pick<Clouds, 'priceOf'>): OfferFact[] {
  const { offers, terms } = pool.spec;
  return offers.map(({ id }) => ({
    ...{ id, ...terms?.[id] },
    pricePerHour: terms?.[id]?.pricePerHour ?? clouds.priceOf(id),
  }));
}

/** The limits with the slots that the newest of its agents reports: a definition may name another number. */
export function withReportedSlots({ view }: View, { id }: Pool, scaling: Scaling): Scaling {
  let [newest, slotsPerAgent] = [Number.NEGATIVE_INFINITY, scaling.slotsPerAgent];
  for (const worker of view.workers.by('pool', id)) {
    const slots = view.agents.get(worker.id)?.slots ?? 0;
    if (slots === 0 || worker.offer === undefined || worker.askedAt < newest) continue;
    [newest, slotsPerAgent] = [worker.askedAt, slots];
  }
  return slotsPerAgent === scaling.slotsPerAgent ? scaling : { ...scaling, slotsPerAgent };
}

/** What became of earlier launches. An offer that was never launched from is taken to be as fast as the others. */
export function supplyFrom(offers: readonly OfferFact[], machines: readonly PastMachine[]): ModelPolicy['supply'] {
  const known = supplyOf({ machines });
  const any = Object.values(known).flatMap(({ readyAfterMs }) => readyAfterMs);
  const supplyFor = (offer: string): OfferSupply => known[offer] ?? { readyAfterMs: any };
  return Object.fromEntries(offers.map(({ id }) => [id, supplyFor(id)]));
}

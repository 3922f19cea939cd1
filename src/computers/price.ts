// What the machine of a computer costs, and whether a budget lets it be launched.
import type { Clouds } from '#clouds/clouds.ts';
import type { KnownKinds } from '#config/kinds.ts';
import type { Budgets } from '#core/budget.ts';
import { type Clock, MINUTE_MS } from '#core/clock.ts';
import type { Computer } from '#core/computer.ts';
import type { Fault } from '#core/fault.ts';
import type { Offer } from '#core/pool.ts';

export interface PriceDeps {
  readonly clock: Clock;
  readonly clouds: Pick<Clouds, 'priceOf' | 'isFree'>;
  readonly kinds?: Pick<KnownKinds, 'backends'>;
  budgets?(): Budgets | undefined;
}

// A cloud is asked for prices once it has been listed.
const LONGEST_WAIT_FOR_PRICE_MS = 2 * MINUTE_MS;

function priceOfOffer({ clouds }: Pick<PriceDeps, 'clouds'>, { id, kind }: Offer): number | undefined {
  return clouds.priceOf(id) ?? (clouds.isFree(kind) ? 0 : undefined);
}

const hasPrices = ({ kinds }: PriceDeps, { kind }: Offer): boolean => kinds?.backends[kind]?.hasPrices === true;

/** A budget needs its price, and its cloud will tell it soon. */
export function isPriceAwaited(deps: PriceDeps, { offer, createdAt }: Computer): boolean {
  const isDue = hasPrices(deps, offer) && deps.clock.now() - createdAt < LONGEST_WAIT_FOR_PRICE_MS;
  return isDue && priceOfOffer(deps, offer) === undefined && deps.budgets?.()?.coversComputers() === true;
}

/** At creation a price that the cloud has not given yet is no reason; at its launch it is one. */
export function refusedByBudget(deps: PriceDeps, offer: Offer, when: 'at creation' | 'at launch'): Fault | undefined {
  const price = priceOfOffer(deps, offer);
  if (price === undefined && when === 'at creation' && hasPrices(deps, offer)) return undefined;
  return deps.budgets?.()?.refusesComputer(price);
}

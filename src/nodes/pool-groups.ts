// Groups in which pools of this Muster have their workers: two must not size one group.
import type { Clouds } from '#clouds/clouds.ts';
import { type Clock, MINUTE_MS } from '#core/clock.ts';
import type { Store } from '#core/store.ts';
import type { PoolOf } from './obstacles.ts';

export interface PoolGroupsDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly clouds: Pick<Clouds, 'offersOf' | 'cloudOf' | 'fault'>;
}

export interface PoolGroups {
  readonly poolOf: PoolOf;
  /** While clouds of pools are being opened it is not known in which groups their workers are. */
  isKnown(): boolean;
}

// A cloud that cannot be opened has a fault long before.
const OPENING_MS = MINUTE_MS;

export function openPoolGroups({ store, clock, clouds }: PoolGroupsDeps): PoolGroups {
  const untilMs = clock.monotonic() + OPENING_MS;

  function isOpened(offer: string): boolean {
    return clouds.cloudOf(offer) !== undefined || clouds.fault(offer) !== undefined;
  }

  return {
    poolOf(group) {
      const offers = new Set([...clouds.offersOf(group)].map(({ id }) => id));
      if (offers.size === 0) return undefined;
      const pools = [...store.view.pools.all()];
      return pools.find(({ spec }) => spec.offers.some(({ id }) => offers.has(id)))?.name;
    },
    isKnown() {
      if (clock.monotonic() >= untilMs) return true;
      return [...store.view.pools.all()].every(({ spec }) => spec.offers.every(({ id }) => isOpened(id)));
    },
  };
}

import type { Pool } from '#core/pool.ts';
import { addPrices, nanoPrice, type PriceSum } from '#core/pool-price.ts';
import { gaugeSet } from './gauges.ts';
import type { GaugeWorld } from './noun.ts';
import { OTHER_POOLS } from './pool-labels.ts';

/** What a pool may have and what it costs, or several pools together. */
interface Sums extends PriceSum {
  minAgents: number;
  maxAgents: number;
  minIdle: number;
  maxIdle: number;
  /** Absent where none has a limit in dollars. */
  maxPriceNano: number | undefined;
}

const noSums = (): Sums => ({
  minAgents: 0,
  maxAgents: 0,
  minIdle: 0,
  maxIdle: 0,
  priceNano: 0,
  unpriced: 0,
  maxPriceNano: undefined,
});

const dollars = (nano: number): number => nano / 1e9;

/** Limits and prices of pools, of the rest together. */
export function poolLimitGauges({ registry, store, poolLabels }: GaugeWorld) {
  const { gauge, reset } = gaugeSet(registry);
  const minAgents = gauge('muster_pool_min_agents', '`min_agents` of a pool.', ['pool']);
  const maxAgents = gauge('muster_pool_max_agents', '`max_agents` of a pool.', ['pool']);
  const minIdle = gauge('muster_pool_min_idle_agents', '`min_idle_agents` of a pool, in slots.', ['pool']);
  const maxIdle = gauge('muster_pool_max_idle_agents', '`max_idle_agents` of a pool, in slots.', ['pool']);
  const price = gauge(
    'muster_pool_price_dollars_per_hour',
    'Price of the machines of a pool that are not stopped, as far as it is known.',
    ['pool'],
  );
  const unpriced = gauge(
    'muster_pool_machines_without_price',
    'Machines of a pool whose price is not known; muster_pool_price_dollars_per_hour leaves them out.',
    ['pool'],
  );
  const maxPrice = gauge('muster_pool_max_price_dollars_per_hour', '`max_price_per_hour` of a pool, where it is set.', [
    'pool',
  ]);
  let shown: ReadonlySet<string> = new Set();
  const byLabel = new Map<string, Sums>();

  return {
    begin(): void {
      shown = poolLabels.shown();
      byLabel.clear();
    },
    add({ id, name, spec: { scaling } }: Pool): void {
      const label = shown.has(name) ? name : OTHER_POOLS;
      const sums = byLabel.get(label) ?? noSums();
      byLabel.set(label, sums);
      sums.minAgents += scaling.minAgents;
      sums.maxAgents += scaling.maxAgents;
      sums.minIdle += scaling.minIdleSlots;
      sums.maxIdle += scaling.maxIdleSlots;
      if (scaling.maxPricePerHour !== undefined) {
        sums.maxPriceNano = (sums.maxPriceNano ?? 0) + nanoPrice(scaling.maxPricePerHour);
      }
      addPrices(store, sums, store.view.workers.by('pool', id));
    },
    show(): void {
      reset();
      for (const [pool, sums] of byLabel) {
        minAgents.set({ pool }, sums.minAgents);
        maxAgents.set({ pool }, sums.maxAgents);
        minIdle.set({ pool }, sums.minIdle);
        maxIdle.set({ pool }, sums.maxIdle);
        price.set({ pool }, dollars(sums.priceNano));
        unpriced.set({ pool }, sums.unpriced);
        if (sums.maxPriceNano !== undefined) maxPrice.set({ pool }, dollars(sums.maxPriceNano));
      }
    },
  };
}

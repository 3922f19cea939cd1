// A budget as people see it.
import type { Clouds } from '#clouds/clouds.ts';
import type { BudgetState, UnpricedOffer } from '#core/budget.ts';
import { HOUR_MS } from '#core/clock.ts';
import { nextMonthFrom } from '#core/month.ts';
import type { Pool } from '#core/pool.ts';
import { sessionsOn } from '#core/pool-counts.ts';
import type { Store } from '#core/store.ts';
import { countedPriceOf } from '#machines/counted-price.ts';
import { covers } from './cover.ts';
import { type CostLedger, payerOfPool } from './ledger.ts';
import { isRunning, perHourNow } from './meter.ts';
import { isSpent } from './room.ts';
import { perHourOfTally, type Tally } from './tally.ts';

export interface StateDeps {
  readonly store: Store;
  readonly clouds: Pick<Clouds, 'isFree' | 'priceOf'>;
  readonly ledger: CostLedger;
  readonly isCounted: boolean;
}

const MOST_UNPRICED = 20;

function* unpricedOf(deps: StateDeps, pools: readonly Pool[]): Iterable<UnpricedOffer> {
  for (const pool of pools)
    for (const offer of pool.spec.offers)
      if (countedPriceOf(deps, pool, offer) === undefined) yield { pool: pool.name, kind: offer.kind, offer: offer.id };
}

/** Dollars an hour of machines with work in progress. */
function busyPerHour({ store, ledger }: StateDeps, tally: Tally): number {
  let dollars = 0;
  for (const [id, meter] of ledger.meters()) {
    const isUnder = isRunning(meter) && ledger.of(meter.payer).includes(tally);
    if (isUnder && sessionsOn(store, id) > 0) dollars += perHourNow(meter, tally.atMs) ?? 0;
  }
  return dollars;
}

export function stateOf(deps: StateDeps, tally: Tally): BudgetState {
  const { store, isCounted } = deps;
  const { budget, machines, sum, dollars, monthMs, atMs } = tally;
  const pools = [...store.view.pools.all()].filter((pool) => covers(budget, payerOfPool(pool)));
  const perHour = perHourOfTally(tally);
  const monthEndMs = nextMonthFrom(monthMs);
  const hasMonth = isCounted || budget.perMonth === undefined;
  const leftMs = (((budget.perMonth ?? Number.POSITIVE_INFINITY) - dollars) / perHour) * HOUR_MS;
  const spentAt = Number.isFinite(leftMs) ? atMs + Math.max(0, leftMs) : Number.POSITIVE_INFINITY;
  return {
    budget,
    pools: pools.length,
    computers: covers(budget, { use: 'computer' }) ? store.view.computers.size : 0,
    machines,
    dollarsPerHour: perHour,
    machinesWithoutPrice: sum.unpriced,
    monthFrom: monthMs,
    spent: isCounted ? dollars : undefined,
    forecast: isCounted ? dollars + (perHour * (monthEndMs - atMs)) / HOUR_MS : undefined,
    spentAt: hasMonth && spentAt < monthEndMs ? spentAt : undefined,
    busyBeyond: isSpent(tally) ? busyPerHour(deps, tally) : undefined,
    unpriced: [...Iterator.from(unpricedOf(deps, pools)).take(MOST_UNPRICED)],
  };
}

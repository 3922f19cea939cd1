// A world of pools with budgets, and what its clouds themselves would bill.
import type { Budget } from '#core/budget.ts';
import { HOUR_MS } from '#core/clock.ts';
import type { PriceTrust } from '#core/machine-price.ts';
import { monthFrom } from '#core/month.ts';
import type { Price } from '#core/pool.ts';
import type { SimCloud } from '#sim/backend.ts';
import { openPoolWorld, type PoolWorld, type PoolWorldOptions } from '#sim/pool-world.ts';
import budgets from '../index.ts';

export interface BudgetWorldOptions extends PoolWorldOptions {
  readonly budgets: readonly Budget[];
  /** What the source of the pools may say of prices. */
  readonly trust?: PriceTrust | undefined;
}

/** A world whose pools are of a source that the operator trusts with prices, unless it says another. */
export async function openBudgetWorld(options: BudgetWorldOptions): Promise<PoolWorld> {
  const { budgets: settings } = options;
  const trust = 'trust' in options ? options.trust : 'stated';
  const parts = { ...options.parts, features: [budgets], sections: { budgets: settings } };
  const world = await openPoolWorld({ ...options, parts });
  await trustSource(world, trust);
  return world;
}

export const trustSource = ({ life }: PoolWorld, prices: PriceTrust | undefined, id = 'file'): Promise<void> =>
  life.store.commit([{ table: 'sources', id, row: { id, kind: 'file', prices } }]);

export function budgetsOf({ life }: PoolWorld) {
  const { budgets: found } = life.features.public;
  if (!found) throw new Error('There are no budgets.');
  return found;
}

/** What a budget says that was spent. */
export const spentOf = (world: PoolWorld, name: string): number => budgetsOf(world).find(name)?.spent ?? Number.NaN;

/** What a cloud bills itself: each machine from when it was made until it is gone, by the price of each moment. */
export function openBill(cloud: SimCloud, now: () => number, pricesNow: () => readonly Price[]) {
  const spans = new Map<string, { readonly fromMs: number; untilMs?: number; readonly owner: string | undefined }>();
  cloud.onMade(({ machine, launch }) => spans.set(machine.name, { fromMs: now(), owner: launch?.mark.owner }));
  cloud.onGone(({ machine }) => {
    const span = spans.get(machine.name);
    if (span) span.untilMs = now();
  });
  return {
    machines: () => spans.size,
    /** Of these owners, since the month began. */
    dollars(isMeant: (owner: string) => boolean = () => true): number {
      const nowMs = now();
      const monthMs = monthFrom(nowMs);
      const prices = pricesNow();
      let dollars = 0;
      for (const { fromMs, untilMs = nowMs, owner = '' } of spans.values())
        if (isMeant(owner)) dollars += billed(prices, Math.max(fromMs, monthMs), untilMs);
      return dollars;
    },
  };
}

/** From the newest price back. */
function billed(prices: readonly Price[], fromMs: number, untilMs: number): number {
  let dollars = 0;
  let endMs = untilMs;
  for (let at = prices.length - 1; at >= 0 && endMs > fromMs; at -= 1) {
    const { from = 0, perHour = 0 } = prices[at] ?? {};
    const beginMs = at === 0 ? fromMs : Math.max(fromMs, from);
    if (beginMs >= endMs) continue;
    dollars += (perHour / HOUR_MS) * (endMs - beginMs);
    endMs = beginMs;
  }
  return dollars;
}

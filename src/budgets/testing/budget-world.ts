// A world of pools with budgets, and what its clouds themselves would bill.
import type { Budget } from '#core/budget.ts';
import { HOUR_MS, SECOND_MS } from '#core/clock.ts';
import type { PriceTrust } from '#core/machine-price.ts';
import { monthFrom } from '#core/month.ts';
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
export function openBill(cloud: SimCloud, now: () => number, priceAt: (atMs: number) => number) {
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
      const fromMonthMs = monthFrom(nowMs);
      let dollars = 0;
      for (const { fromMs, untilMs = nowMs, owner = '' } of spans.values())
        if (isMeant(owner)) dollars += between(Math.max(fromMs, fromMonthMs), untilMs, priceAt);
      return dollars;
    },
  };
}

// Prices of a test change at whole seconds.
const STEP_MS = SECOND_MS;

function between(fromMs: number, untilMs: number, priceAt: (atMs: number) => number): number {
  let dollars = 0;
  for (let at = fromMs; at < untilMs; ) {
    const next = Math.min(untilMs, (Math.floor(at / STEP_MS) + 1) * STEP_MS);
    dollars += (priceAt(at) * (next - at)) / HOUR_MS;
    at = next;
  }
  return dollars;
}

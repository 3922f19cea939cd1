import { expect, it } from 'vitest';
import { Fault } from '#core/fault.ts';
import type { Forecasts } from '#core/forecast.ts';
import type { Offer, PoolSpec, Scaling } from '#core/pool.ts';
import { aPool, OFFER } from '#core/testing/pool.ts';
import type { PlannedPool } from '../../pools/pools.ts';
import type { Foreseen } from '../../workers/facts.ts';
import { budgetsOfThese } from '../testing/budgets.ts';
import { type DollarDeps, expectedDollars, plannedDollars } from './planned-dollars.ts';

const SPOT: Offer = { id: 'spot', kind: 'sim', config: {} };
const OFFERS: Foreseen['offers'] = [
  { id: SPOT.id, pricePerHour: 1, maxAgents: 2 },
  { id: OFFER.id, pricePerHour: 3 },
];

function change(
  before: Partial<Scaling> | undefined,
  after: Partial<Scaling>,
  more: Partial<PoolSpec> = {},
): PlannedPool {
  const offers = [SPOT, OFFER];
  const old = before && aPool(before, { offers });
  return {
    name: 'gpu',
    change: before ? 'change' : 'create',
    before: old,
    after: aPool(after, { offers, ...more }),
    why: '',
  };
}

const deps = (offers = OFFERS, hour?: number): DollarDeps => ({
  workers: { foresee: () => ({ offers }) } as unknown as DollarDeps['workers'],
  features:
    hour === undefined ? {} : { budgets: { ...budgetsOfThese(), roomFor: () => [{ name: 'ml', perHour: hour }] } },
});

it('is counted at rest from the first backends that have room, and at most from the most expensive', () => {
  const planned = change({ minIdleSlots: 1, maxAgents: 4 }, { minIdleSlots: 3, maxAgents: 10 });

  expect(plannedDollars(deps(), planned, { offers: OFFERS })).toEqual({
    at_rest: { before: 1, after: 5 },
    at_most: { before: 12, after: 30 },
    notes: [],
  });
});

it('is at most what the pool, its windows and a budget allow', () => {
  const window = { from: '08:00', to: '18:00', timezone: 'UTC', maxAgents: 20 };
  const scheduled = change(undefined, { maxAgents: 4 }, { schedules: [window] });
  expect(plannedDollars(deps(), scheduled, { offers: OFFERS })?.at_most).toEqual({ before: undefined, after: 60 });
  expect(plannedDollars(deps(OFFERS, 25), scheduled, { offers: OFFERS })?.at_most.after).toBe(25);
  const resting = change(undefined, { minIdleSlots: 4, maxAgents: 9 });
  expect(plannedDollars(deps(OFFERS, 7), resting, { offers: OFFERS })?.at_rest.after).toBe(7);

  const limited = change(undefined, { maxAgents: 10, maxPricePerHour: 7 });
  expect(plannedDollars(deps(), limited, { offers: OFFERS })?.at_most.after).toBe(7);
});

it('is nothing after a removal, and is left out of a manual pool', () => {
  const removed = { ...change({ minIdleSlots: 1 }, { minIdleSlots: 1 }), change: 'remove' } as const;
  expect(plannedDollars(deps(), removed, { offers: OFFERS })).toMatchObject({
    at_rest: { before: 1, after: 0 },
    at_most: { after: 0 },
  });

  const manual: PlannedPool = { name: 'm', change: 'create', after: aPool({}, { offers: [] }), why: '' };
  expect(plannedDollars(deps([]), manual, { offers: [] })).toBeUndefined();
});

it('names backends without a price', () => {
  const offers = [{ id: OFFER.id }];

  expect(plannedDollars(deps(offers), change(undefined, {}), { offers })?.notes).toEqual([
    '1 of 1 backends have no price: the dollars are without their machines.',
  ]);
});

it('is expected as the model says for the old and the new limits over the same week', async () => {
  const asked: string[] = [];
  const forecasts = {
    async forecast({ pool, demand }: Parameters<Forecasts['forecast']>[0]) {
      const { minIdleSlots } = pool.spec.scaling;
      asked.push(`${pool.id} ${'sinceMs' in demand && demand.sinceMs}`);
      return { fromMs: 0, untilMs: 10 * 3_600_000, today: { dollars: 20 * (minIdleSlots + 1) } };
    },
  } as unknown as Forecasts;
  const by = { forecasts, token: 't', signal: new AbortController().signal, now: 8 * 86_400_000 };

  const expected = await expectedDollars(change({ minIdleSlots: 0 }, { minIdleSlots: 2 }), by);

  expect(expected).toEqual({ range: { before: 2, after: 6 } });
  expect(asked).toEqual(['id-gpu 86400000', 'id-gpu 86400000']);
});

it('is not expected where nothing is known, and says why', async () => {
  const forecasts = {
    forecast: () => Promise.reject(new Fault('missing', 'Pool gpu has no sessions.')),
  } as unknown as Forecasts;
  const by = { forecasts, token: 't', signal: new AbortController().signal, now: 0 };

  expect(await expectedDollars(change({}, {}), by)).toEqual({ note: 'Nothing is expected: Pool gpu has no sessions.' });
  expect((await expectedDollars(change(undefined, {}), by)).note).toContain('no sessions yet');
});

import { expect, it } from 'vitest';
import type { BudgetRoom } from '#core/budget.ts';
import { plan } from './plan.ts';
import { check, factsOf, type Row } from './testing/check.ts';

const HOUR: BudgetRoom = { name: 'ml', perHour: 120, hourLeft: 10 };
const MONTH: BudgetRoom = { name: 'all', perMonth: 4_000, monthLeft: 5 };
const SPENT: BudgetRoom = { name: 'all', perMonth: 4_000, monthLeft: -3, isSpent: true };
const PRICED = [{ id: 'a', pricePerHour: 3 }];

const ROWS: readonly Row[] = [
  {
    rule: 'as many are launched as the hour of a budget has room for',
    facts: { queued: 5, offers: PRICED, budgets: [HOUR] },
    does: '+3',
    why: /launching 3 of 5 needed, up to per_hour 120 of budget ml/,
    reason: { code: 'budget-hour', with: { budget: 'ml', perHour: 120 } },
    alternatives: [
      { what: 'launch 2 from backend a', whyNot: 'per_hour 120 of budget ml would be exceeded', pricePerHour: 3 },
    ],
  },
  {
    rule: 'of several budgets the one that leaves the least counts',
    facts: { queued: 5, offers: PRICED, budgets: [HOUR, MONTH] },
    does: '+1',
    reason: { code: 'budget-month', with: { budget: 'all', perMonth: 4_000 } },
  },
  {
    rule: 'a cheaper backend is taken where a more expensive one would exceed the budget',
    facts: {
      queued: 4,
      offers: [
        { id: 'a', pricePerHour: 12 },
        { id: 'b', pricePerHour: 2.5 },
      ],
      budgets: [HOUR],
    },
    does: '+4b',
  },
  {
    rule: 'what two backends launch together stays within the budget',
    facts: {
      queued: 9,
      offers: [
        { id: 'a', pricePerHour: 3, maxAgents: 2 },
        { id: 'b', pricePerHour: 2 },
      ],
      budgets: [HOUR],
    },
    does: '+2 +2b',
  },
  {
    rule: 'a backend without a price is passed over under a budget, and named',
    facts: { queued: 1, offers: [{ id: 'a' }, { id: 'b', pricePerHour: 1 }], budgets: [HOUR] },
    does: '+1b',
    alternatives: [{ what: 'launch 1 from backend a', whyNot: 'budget ml needs its price' }],
  },
  {
    rule: 'without any priced backend nothing is launched under a budget',
    facts: { queued: 1, offers: [{ id: 'a' }], budgets: [HOUR] },
    does: '',
    reason: { code: 'price-unknown', with: { budget: 'ml', offers: 'a' } },
  },
  {
    rule: 'a price that the operator does not count is none',
    facts: { queued: 1, offers: [{ id: 'a', pricePerHour: 1, isUnpriced: true }], budgets: [HOUR] },
    does: '',
    reason: { code: 'price-unknown', with: { budget: 'ml', offers: 'a' } },
  },
  {
    rule: 'a budget counts the price of the cloud where a document says less',
    facts: { queued: 5, offers: [{ id: 'a', pricePerHour: 1, countedPerHour: 5 }], budgets: [HOUR] },
    does: '+2',
  },
  {
    rule: 'what costs nothing is launched whatever is left',
    facts: { queued: 2, offers: [{ id: 'a', countedPerHour: 0 }], budgets: [SPENT] },
    does: '+2',
    reason: { code: 'demand' },
  },
  {
    rule: 'nothing is launched while what was spent is being counted',
    facts: { queued: 1, offers: PRICED, budgets: [{ name: 'all', perMonth: 4_000 }] },
    does: '',
    why: /whose spending is still being counted/,
  },
  {
    rule: 'when the month is spent idle workers go whatever min_idle says, and a busy one only takes no new session',
    workers: 'idle, busy 1/2, booting, draining 0/1, returning',
    scaling: { minIdleSlots: 4, maxIdleSlots: 9, minAgents: 3 },
    facts: { offers: PRICED, budgets: [SPENT], queued: 3 },
    does: '-w2 -w0 ~w1',
    why: /Budget all is spent \(per_month 4000\): removing 2 without sessions; 2 with sessions finish first/,
    reason: { code: 'budget-spent', with: { budget: 'all', perMonth: 4_000 } },
  },
  {
    rule: 'a worker of an older definition stays where the new one has no price that the budget counts',
    workers: 'old idle',
    scaling: { minIdleSlots: 1, maxIdleSlots: 1 },
    facts: { offers: [{ id: 'a' }], updatePolicy: 'replace_idle', budgets: [HOUR] },
    does: '',
    reason: { code: 'enough', with: { minIdle: 1, maxIdle: 1, minAgents: 0 } },
    also: ['outdated-kept'],
  },
];

it.each(ROWS)('$rule', check);

it('a pool that a budget holds does not count what it lacks as wanted', () => {
  const held = plan(factsOf('', { minIdleSlots: 3 }, { offers: PRICED, budgets: [{ ...HOUR, hourLeft: 0 }] }));

  expect(held.need.wanted).toBe(0);
});

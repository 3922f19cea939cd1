import { expect, it } from 'vitest';
import type { BudgetState } from '#core/budget.ts';
import { budgetsOfThese, someBudget } from './testing/budgets.ts';
import { apiWorld } from './testing/world.ts';

const SPENT: BudgetState = {
  budget: { name: 'all', perMonth: 50, end: 'stop' },
  ...{ pools: 3, computers: 1, machines: 1, dollarsPerHour: 2, machinesWithoutPrice: 0 },
  ...{ monthFrom: Date.UTC(2026, 0, 1), spent: 51, busyBeyond: 2, unpriced: [] },
};

const withBudgets = (...states: readonly BudgetState[]) =>
  apiWorld({ over: { features: { budgets: budgetsOfThese(...states) } } });

it('lists budgets with what their machines cost, and says what is exceeded', async () => {
  const { call } = await withBudgets(someBudget, SPENT);

  const { items } = (await call('GET', '/api/v1/budgets', { as: 'viewer' })).json();

  expect(items[0]).toMatchObject({
    ...{ name: 'ml', pools: ['ml-*'], per_hour: 10, per_month: 400, dollars_per_hour: 12 },
    covers: { pools: 2, computers: 0, machines: 4 },
    ...{ month_from: '2026-01-01T00:00:00.000Z', spent: 100, forecast: 320.5 },
    unpriced: [{ pool: 'ml-a', backend: 'command', offer: 'abc' }],
    exceeded: 'its machines cost 12 an hour, more than per_hour 10',
  });
  expect(items[0].then).toBe('stop');
  expect(items[1].exceeded).toContain('per_month 50 is spent: nothing is launched');
});

it('names the budget that was meant where there is none of that name', async () => {
  const { call } = await withBudgets(someBudget);

  const reply = await call('GET', '/api/v1/budgets/mll');

  expect(reply.statusCode).toBe(404);
  expect(reply.json()).toMatchObject({ detail: 'There is no budget mll.', remedy: 'Did you mean ml?' });
});

it('says where budgets are written on a server without any', async () => {
  const { call } = await apiWorld();

  expect((await call('GET', '/api/v1/budgets')).json()).toEqual({ items: [] });
  expect((await call('GET', '/api/v1/budgets/ml')).json().remedy).toContain('`budgets` of the server');
});

it('shows budgets that are exceeded and pools without a price among the problems of the overview', async () => {
  const { call } = await withBudgets(someBudget, SPENT);

  const { problems } = (await call('GET', '/api/v1/overview')).json();

  expect(problems.map(({ id, subject }: { id: string; subject: string }) => [id, subject])).toEqual([
    ['budget/all', 'budget/all'],
    ['budget/ml', 'budget/ml'],
    ['budget/ml/price', 'budget/ml'],
  ]);
  expect(problems[2].what).toContain('pool ml-a from backend command: its price is not known');
});

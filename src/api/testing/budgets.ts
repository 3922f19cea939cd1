import type { BudgetState, Budgets } from '#core/budget.ts';

/** A budget whose hour is exceeded. */
export const someBudget: BudgetState = {
  budget: { name: 'ml', pools: ['ml-*'], perHour: 10, perMonth: 400, end: 'stop' },
  ...{ pools: 2, computers: 0, machines: 4, dollarsPerHour: 12.000_000_01, machinesWithoutPrice: 1 },
  ...{ monthFrom: Date.UTC(2026, 0, 1), spent: 100, forecast: 320.5 },
  unpriced: [{ pool: 'ml-a', kind: 'command', offer: 'abc' }],
};

export const budgetsOfThese = (...states: readonly BudgetState[]): Budgets => ({
  list: () => states,
  find: (name) => states.find(({ budget }) => budget.name === name),
  roomFor: () => undefined,
  coversComputers: () => false,
  refusesComputer: () => undefined,
  onTurn() {},
});

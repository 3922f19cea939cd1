import { expect, it } from 'vitest';
import { type BudgetRun, runBudgets } from './testing/budget-run.ts';

const RUNS = 40;

it('no launch breaks a budget, the ledger follows the bill, and nothing busy is stopped, whatever goes wrong', async () => {
  const seen: Record<string, number> = {};
  const broken: Record<number, readonly string[]> = {};
  for (let seed = 1; seed <= RUNS; seed += 1) {
    const run: BudgetRun = await runBudgets(seed);
    if (run.broken.length > 0) broken[seed] = run.broken;
    for (const [what, count] of Object.entries(run.seen)) seen[what] = (seen[what] ?? 0) + count;
  }

  expect(broken).toEqual({});
  // A run in which nothing happens breaks nothing.
  expect(Object.entries(seen).filter(([, count]) => count === 0)).toEqual([]);
});

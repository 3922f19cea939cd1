import { describe, expect, it } from 'vitest';
import { runBudgets } from '../../src/budgets/testing/budget-run.ts';

const RUNS = 10_000;
const RUNS_A_TEST = 500;
// The first ones are the sample of `npm test`.
const FIRST_SEED = 1_000;

describe('10,000 seeded runs of pools under two budgets near the end of a month', () => {
  it.each(Array.from({ length: RUNS / RUNS_A_TEST }, (_, at) => FIRST_SEED + at * RUNS_A_TEST))(
    'break no law from seed %i on',
    async (first) => {
      const broken: Record<number, readonly string[]> = {};
      for (let seed = first; seed < first + RUNS_A_TEST; seed += 1) {
        const run = await runBudgets(seed);
        if (run.broken.length > 0) broken[seed] = run.broken;
      }

      expect(broken).toEqual({});
    },
  );
});

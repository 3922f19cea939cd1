import { expect, it } from 'vitest';
import { runWorld } from '../../src/sim/day.ts';
import { NO_FAULTS } from '../../src/sim/faults.ts';

it('every decision stored in a day of 1,000 pools, computed again from its inputs, is the same', async () => {
  const day = { seed: 1, pools: 1_000, sessionsPerPoolHour: 1, faults: NO_FAULTS, replaysAll: true };
  const { invariants, figures } = await runWorld(day, 24);

  const stored = [...figures.decisions.values()].reduce((sum, count) => sum + count, 0);
  expect(invariants.firstBreak).toBeUndefined();
  expect(stored).toBeGreaterThan(20_000);
  expect(invariants.looks.replayed).toBe(stored);
});

import { expect, it } from 'vitest';
import { runWorld } from '../../src/sim/day.ts';
import { NO_FAULTS } from '../../src/sim/faults.ts';
import { recordDecisions, replayedOnEachStore } from '../../src/sim/testing/recorded-decisions.ts';

it('every decision stored in a day of 1,000 pools, computed again from its inputs, is the same', async () => {
  const day = { seed: 1, pools: 1_000, sessionsPerPoolHour: 1, faults: NO_FAULTS, replaysAll: true };
  const { invariants, figures } = await runWorld(day, 24);

  const stored = [...figures.decisions.values()].reduce((sum, count) => sum + count, 0);
  expect(invariants.firstBreak).toBeUndefined();
  expect(stored).toBeGreaterThan(20_000);
  expect(invariants.looks.replayed).toBe(stored);
});

it('the decisions of a week with a crash and a takeover are computed again with one hash on every store', async () => {
  const rows = await recordDecisions(7, { pools: 10, hours: 7 * 24 });

  const { same, hashes } = await replayedOnEachStore(rows);

  expect(rows.length).toBeGreaterThan(5_000);
  expect(same).toEqual([rows.length, rows.length]);
  expect(new Set(hashes).size).toBe(1);
});

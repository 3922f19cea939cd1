import { expect, test } from 'vitest';
import { recordDecisions, replayedOnEachStore } from './testing/recorded-decisions.ts';

test('decisions around a crash and a takeover are computed again with one hash on SQLite and PostgreSQL', async () => {
  const rows = await recordDecisions(1, { hours: 9 });

  const { same, hashes } = await replayedOnEachStore(rows);

  expect(rows.length).toBeGreaterThan(200);
  expect(same).toEqual([rows.length, rows.length]);
  // Of each store, before and after a restart.
  expect(hashes).toHaveLength(4);
  expect(new Set(hashes).size).toBe(1);
});

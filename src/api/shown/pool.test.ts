import { expect, test } from 'vitest';
import { poolWithSecret } from '../testing/rows.ts';
import { shownPlan } from './pool.ts';

test.each([
  [27_852.108668, '28s'],
  [60_000, '1m'],
  [850.4, '851ms'],
  [0, '0s'],
])('a plan that looks again after %d ms says %s', (againAfterMs, said) => {
  const plan = {
    actions: [],
    did: 'nothing',
    reason: { code: 'enough' },
    also: [],
    alternatives: [],
    why: 'Nothing.',
    unless: 'More.',
    figures: {},
    need: { wanted: 0, lost: 0 },
    againAfterMs,
  };

  expect(shownPlan(poolWithSecret('gpu'), plan, (text) => text).again_after).toBe(said);
});

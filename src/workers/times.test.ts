import { expect, test } from 'vitest';
import { DEFAULT_TIMES, gapAfter } from './times.ts';

test('sessions leave a pool alone for longer the longer its pass took, within bounds', () => {
  const times = { ...DEFAULT_TIMES, passGapMs: 10, longestPassGapMs: 40 };

  expect([0, 0.1, 0.4, 0.7, 100].map((tookMs) => gapAfter(tookMs, times))).toEqual([10, 10, 20, 35, 40]);
});

import { expect, it } from 'vitest';
import { MINUTE_MS, SECOND_MS } from './clock.ts';
import { leadTimeOf } from './lead-time.ts';

it('is five minutes where no machine was ever ready', () => {
  expect(leadTimeOf([])).toBe(5 * MINUTE_MS);
});

it('is the time in which 95 of 100 machines were ready, in whole seconds', () => {
  const seconds = Array.from({ length: 100 }, (_, at) => (100 - at) * SECOND_MS - 1);

  expect(leadTimeOf(seconds)).toBe(95 * SECOND_MS);
  expect(leadTimeOf([100])).toBe(SECOND_MS);
});

it('is at most fifteen minutes, however long machines take', () => {
  expect(leadTimeOf([14 * MINUTE_MS])).toBe(14 * MINUTE_MS);
  expect(leadTimeOf([MINUTE_MS, 40 * MINUTE_MS])).toBe(15 * MINUTE_MS);
});

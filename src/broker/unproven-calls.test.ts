import { expect, test } from 'vitest';
import { createUnprovenCalls } from './unproven-calls.ts';

const throttled = expect.objectContaining({ kind: 'throttled' });

test('an address has 32 calls whose callers are not known, and all addresses together have 64', () => {
  const { enter } = createUnprovenCalls();
  const leave = Array.from({ length: 32 }, () => enter('10.0.0.1'));

  expect(() => enter('10.0.0.1')).toThrow(throttled);
  for (let at = 0; at < 32; at++) enter(`10.0.1.${at}`);
  expect(() => enter('10.0.0.2')).toThrow(throttled);
  leave[0]?.();
  leave[0]?.();
  enter('10.0.0.2');

  expect(() => enter('10.0.0.1')).toThrow(throttled);
});

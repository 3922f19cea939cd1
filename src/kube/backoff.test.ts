import { describe, expect, it } from 'vitest';
import { HOUR_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { isExpired } from './faults.ts';
import { backoffMs } from './reflector.ts';

describe('the pause after a failure', () => {
  const away = new Fault('unavailable', 'Away.');

  it('grows to ten seconds, give or take a quarter', () => {
    expect([1, 2, 3, 9, 500].map((failures) => backoffMs(away, failures, 0.5))).toEqual([
      500, 1_000, 2_000, 10_000, 10_000,
    ]);
    expect([0, 0.999].map((random) => Math.round(backoffMs(away, 9, random)))).toEqual([7_500, 12_495]);
  });

  it('is as long as the API server asks, within reason', () => {
    expect(backoffMs(new Fault('throttled', 'Slow.', { retryAfterMs: 4_000 }), 1, 0.5)).toBe(4_000);
    expect(backoffMs(new Fault('throttled', 'Slow.', { retryAfterMs: HOUR_MS }), 1, 0.5)).toBe(30_000);
  });

  it('is left out once where a version was forgotten', () => {
    const expired = new Fault('stale', 'Old.', { cause: { code: 410, reason: 'Expired', causes: [] } });

    expect(isExpired(expired)).toBe(true);
    expect([1, 2].map((failures) => backoffMs(expired, failures, 0.5))).toEqual([0, 1_000]);
  });
});

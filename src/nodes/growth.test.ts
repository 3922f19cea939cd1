import { describe, expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '#core/clock.ts';
import type { GroupBackoff } from '#core/node.ts';
import { nextBackoff } from './growth.ts';

describe('the back-off of a group', () => {
  it('doubles from 5 to 30 minutes, failure by failure', () => {
    let backoff: GroupBackoff | undefined;
    const waits: number[] = [];
    for (let failures = 0; failures < 5; failures++) {
      const now: number = backoff?.until ?? 0;
      backoff = nextBackoff(backoff, 'no capacity', now);
      waits.push((backoff.until - now) / MINUTE_MS);
    }

    expect(waits).toEqual([5, 10, 20, 30, 30]);
  });

  it('is not made longer by what fails while it lasts', () => {
    const first = nextBackoff(undefined, 'no capacity', 0);

    expect(nextBackoff(first, 'no quota', MINUTE_MS)).toMatchObject({ until: first.until, why: 'no quota' });
  });

  it('begins anew three hours after the last failure', () => {
    const last = { until: 30 * MINUTE_MS, lastMs: 30 * MINUTE_MS, failedAt: 0, why: 'no capacity' };

    expect(nextBackoff(last, 'no capacity', 3 * HOUR_MS - 1).lastMs).toBe(30 * MINUTE_MS);
    expect(nextBackoff(last, 'no capacity', 3 * HOUR_MS).lastMs).toBe(5 * MINUTE_MS);
  });
});

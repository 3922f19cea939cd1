import { describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#core/clock.ts';
import type { Arrival } from '#core/forecast.ts';
import { someScaling } from '#core/testing/pool.ts';
import { modelPool } from '../../src/foresight/model.ts';
import { awsForecast } from './aws-forecast.ts';
import { type NamedPolicy, POLICIES, runPolicy } from './compare.ts';
import { gitlab } from './gitlab.ts';
import { karpenter } from './karpenter.ts';

const demandOf = (arrivals: readonly Arrival[], untilMs = 4 * DAY_MS) => ({ name: 'd', fromMs: 0, untilMs, arrivals });
const policy = (planner: NonNullable<NamedPolicy['planner']>) => ({ name: 'peer', planner });
const daily = [0, 1, 2, 3].map((day) => ({ atMs: day * DAY_MS + 9 * HOUR_MS, lastsMs: 30 * MINUTE_MS }));

describe('policies of peers', () => {
  it('of GitLab keep idle_count, or the share of the instances in use where that is more', () => {
    const used = demandOf([{ atMs: 0, lastsMs: 4 * DAY_MS, slots: 10 }]);
    const idle = demandOf([{ atMs: 0, lastsMs: 1 }]);

    expect(
      runPolicy(
        policy(() => gitlab({ idleCount: 2, scaleFactor: 0 })),
        idle,
      ).paidPerUsed,
    ).toBeGreaterThan(1_000);
    expect(
      runPolicy(
        policy(() => gitlab({ idleCount: 1, scaleFactor: 0.5 })),
        used,
      ).paidPerUsed,
    ).toBeCloseTo(1.5, 1);
    expect(
      runPolicy(
        policy(() => gitlab({ idleCount: 2, scaleFactor: 0 })),
        used,
      ).paidPerUsed,
    ).toBeCloseTo(1.2, 1);
  });

  it('of Karpenter keep nothing idle, and leave a refusing offer out for three minutes', () => {
    const arrivals = Array.from({ length: 120 }, (_, at) => ({ atMs: at * MINUTE_MS, lastsMs: 1_000 }));
    const { refused, launches } = modelPool({
      ...{ scaling: someScaling({ maxAgents: 10, retryDelayMs: 1 }), planner: karpenter(), seed: 1 },
      ...{ offers: [{ id: 'a' }, { id: 'b' }], demand: arrivals, untilMs: 2 * HOUR_MS, mostEvents: 1e6 },
      supply: { a: { readyAfterMs: [1], refusals: { share: 1, afterMs: 1 } }, b: { readyAfterMs: [1] } },
    });

    expect(launches - refused).toBe(120);
    // A session comes each minute: the first offer is tried for every fourth.
    expect(refused).toBe(30);
  });

  it('of AWS have a machine ready five minutes before an hour in which others were used on earlier days', () => {
    const { p50Ms, p95Ms } = runPolicy(policy(awsForecast), demandOf(daily));

    // Without a day before it the first one waits.
    expect([p50Ms, p95Ms]).toEqual([0, 2 * MINUTE_MS]);
    expect(runPolicy(policy(karpenter), demandOf(daily)).p50Ms).toBe(2 * MINUTE_MS);
  });

  it('run the same demand as those of Muster, whatever they cost', () => {
    const outcomes = POLICIES.map((each) => runPolicy(each, demandOf(daily)));

    expect(outcomes.every(({ launches, dollars }) => launches > 0 && dollars > 0)).toBe(true);
    expect(new Set(outcomes.map((outcome) => outcome.policy)).size).toBe(POLICIES.length);
  });
});

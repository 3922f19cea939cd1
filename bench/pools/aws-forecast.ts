import { DAY_MS, HOUR_MS, MINUTE_MS } from '#core/clock.ts';
import type { Planner } from '../../src/foresight/model.ts';
import { peerPlanner } from './peer.ts';

// https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-predictive-scaling.html
const LEAD_MS = 5 * MINUTE_MS;
const MOST_DAYS = 14;

/**
 * Predictive scaling with five minutes of lead, beside dynamic scaling: in each hour the mean of the peaks of the same
 * hour of up to fourteen days before. It forecasts once it has a day.
 */
export function awsForecast(): Planner {
  const peaks = new Map<number, number>();
  const hourOf = (ms: number): number => Math.floor(ms / HOUR_MS);

  function forecast(atMs: number): number {
    const before: number[] = [];
    for (let day = 1; day <= MOST_DAYS; day += 1) {
      const peak = peaks.get(hourOf(atMs - day * DAY_MS));
      if (peak !== undefined) before.push(peak);
    }
    return before.length === 0 ? 0 : before.reduce((sum, peak) => sum + peak, 0) / before.length;
  }

  return peerPlanner({
    spare({ nowMs }, inUse) {
      const hour = hourOf(nowMs);
      peaks.set(hour, Math.max(inUse, peaks.get(hour) ?? 0));
      return Math.max(forecast(nowMs), forecast(nowMs + LEAD_MS)) - inUse;
    },
    emptyMs: 5 * MINUTE_MS,
    // Each hour has a forecast of its own.
    everyMs: 5 * MINUTE_MS,
  });
}

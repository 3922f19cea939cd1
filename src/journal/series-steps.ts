// Minutes joined to steps of a chart.
import { HOUR_MS, MINUTE_MS } from '#core/clock.ts';
import type { SeriesHour, SeriesPoint, SeriesValues } from '#core/series.ts';
import { NO_VALUES } from './minute-rings.ts';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

interface Step extends Mutable<SeriesPoint> {
  minutes: number;
  dollarsSum: number;
}

/** Steps of a chart: the largest of each count within a step, and what an hour cost in the mean. */
export interface SeriesSteps {
  add(at: number, values: SeriesValues): void;
  points(): SeriesPoint[];
}

export function openSeriesSteps(stepMs: number): SeriesSteps {
  const steps = new Map<number, Step>();
  return {
    add(at, { queued, busy, idle, starting, wanted, dollars }) {
      const start = Math.floor(at / stepMs) * stepMs;
      const step = steps.get(start) ?? { at: start, ...NO_VALUES, minutes: 0, dollarsSum: 0 };
      steps.set(start, step);
      step.queued = Math.max(step.queued, queued);
      step.busy = Math.max(step.busy, busy);
      step.idle = Math.max(step.idle, idle);
      step.starting = Math.max(step.starting, starting);
      step.wanted = Math.max(step.wanted, wanted);
      step.minutes += 1;
      step.dollarsSum += dollars;
    },
    points: () =>
      [...steps.values()]
        .toSorted((a, b) => a.at - b.at)
        .map(({ minutes, dollarsSum, ...point }) => ({
          ...point,
          dollars: Math.round((dollarsSum / minutes) * 1e4) / 1e4,
        })),
  };
}

/** Each minute that an hour of the fleet has seen, with the values of a pool then: without an hour of its own, it was idle. */
export function* minutesOf(seen: SeriesHour, own: SeriesHour | undefined): Iterable<SeriesPoint> {
  const changes = [...(own?.changes ?? [])];
  let values = NO_VALUES;
  for (let minute = seen.first; minute <= seen.last; minute += 1) {
    while (changes[0] && changes[0][0] <= minute) {
      const [, queued, busy, idle, starting, wanted, dollars] = changes.shift() as (typeof changes)[number];
      values = { queued, busy, idle, starting, wanted, dollars };
    }
    yield { at: seen.hour + minute * MINUTE_MS, ...values };
  }
}

/** Rows of one hour by one process belong together: a restart within an hour makes two. */
export const partOf = ({ hour, first }: Pick<SeriesHour, 'hour' | 'first'>): string => `${hour / HOUR_MS} ${first}`;

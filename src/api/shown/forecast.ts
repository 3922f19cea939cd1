import { formatDuration } from '#core/duration.ts';
import type { DecisionDifference, Forecast, ForecastDecision, PoolFigures, ShadowState } from '#core/forecast.ts';
import type * as wire from '../wire/forecast.ts';
import { toTime } from '../wire/shared.ts';

export function shownForecast(
  pool: string,
  set: Readonly<Record<string, unknown>> | undefined,
  { fromMs, untilMs, sessions, seed, recorded, today, other, notes }: Forecast,
): wire.Forecast {
  return {
    ...{ pool, from: toTime(fromMs), until: toTime(untilMs), sessions, seed },
    recorded: recorded && shownFigures(recorded),
    today: shownFigures(today),
    other: other && {
      ...shownFigures(other),
      set: set && { ...set },
      warnings: [...other.warnings],
      first_difference: other.difference && shownDifference(other.difference),
    },
    notes: [...notes],
  };
}

export const shownShadow = (pool: string, { shadow, forecast, problem }: ShadowState): wire.Shadow => ({
  ...{ pool, since: toTime(shadow.since), by: shadow.by },
  forecast: forecast && shownForecast(pool, undefined, forecast),
  problem,
});

export function shownFigures(figures: PoolFigures): wire.ForecastFigures {
  const { p50Ms, p95Ms, p99Ms } = figures.waits;
  return {
    sessions: figures.sessions,
    waiting: figures.unplaced,
    waits: { p50: span(p50Ms), p95: span(p95Ms), p99: span(p99Ms) },
    launches: figures.launches,
    refused: figures.refused,
    machine_hours: rounded(figures.machineHours),
    dollars: rounded(figures.dollars),
    machines_without_price: figures.machinesWithoutPrice,
  };
}

const LONG_MS = 10_000;

/** A long one is shown without milliseconds. */
const span = (ms: number): string => formatDuration(ms < LONG_MS ? Math.round(ms) : Math.round(ms / 1_000) * 1_000);
const rounded = (amount: number): number => Math.round(amount * 100) / 100;

const shownDifference = ({ atMs, first, other }: DecisionDifference) => ({
  at: toTime(atMs),
  today: first && shownDecided(first),
  other: other && shownDecided(other),
});

const shownDecided = ({ atMs, did, why }: ForecastDecision): wire.ForecastDecided => ({ at: toTime(atMs), did, why });

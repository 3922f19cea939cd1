import type { LabelValues, Registry } from 'prom-client';

type Labels = LabelValues<string>;

export interface SeriesCounterOptions {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
  readonly registry: Registry;
}

/** A counter of the registry that is increased for every session, and that can forget the series of a pool. */
export interface SeriesCounter {
  /** `labelsOf` is asked once for each key. */
  increase(key: string, labelsOf: () => Labels): void;
  /** Removes the series whose labels match. */
  drop(matches: (labels: Labels) => boolean): void;
}

/** The library's own checks and hashes the labels of each increase, and removes a series only by all of its labels. */
export function openSeriesCounter({ name, help, labelNames, registry }: SeriesCounterOptions): SeriesCounter {
  const series = new Map<string, { readonly labels: Labels; value: number }>();
  const metric = {
    name,
    help,
    type: 'counter',
    labelNames,
    get: async () => ({ name, help, type: 'counter', values: [...series.values()], aggregator: 'sum' }),
    reset: () => series.clear(),
  };
  registry.registerMetric(metric as unknown as Parameters<typeof registry.registerMetric>[0]);
  return {
    increase(key, labelsOf) {
      const found = series.get(key);
      if (found) found.value += 1;
      else series.set(key, { labels: labelsOf(), value: 1 });
    },
    drop(matches) {
      for (const [key, { labels }] of series) if (matches(labels)) series.delete(key);
    },
  };
}

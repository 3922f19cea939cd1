import type { LabelValues, MetricObject, Registry } from 'prom-client';

type Labels = LabelValues<string>;

interface Series {
  readonly labels: Labels;
  /** Observations by the first bucket that holds them; the last is beyond all bounds. */
  readonly counts: Float64Array;
  sum: number;
}

export interface TimeHistogramOptions {
  readonly name: string;
  readonly help: string;
  readonly labelNames?: readonly string[];
  /** Upper bounds, ascending. */
  readonly buckets: readonly number[];
  readonly registry: Registry;
}

/**
 * A histogram of the registry that is asked for every session: the library's own takes a microsecond for each observation,
 * since it checks and hashes the labels and finds the bucket by the text of its bound.
 */
export class TimeHistogram {
  readonly #options: TimeHistogramOptions;
  readonly #series = new Map<string, Series>();

  constructor(options: TimeHistogramOptions) {
    this.#options = options;
    const { name, help, labelNames = [], registry } = options;
    const values = { get: () => this.#read(), reset: () => this.#series.clear() };
    const metric = { name, help, type: 'histogram', labelNames, ...values };
    registry.registerMetric(metric as unknown as Parameters<typeof registry.registerMetric>[0]);
  }

  /** Shows a series before its first observation. */
  open(key: string, labels: Labels): Series {
    const series = { labels, counts: new Float64Array(this.#options.buckets.length + 1), sum: 0 };
    this.#series.set(key, series);
    return series;
  }

  /** `labelsOf` is asked once for each key. */
  observe(key: string, labelsOf: () => Labels, value: number): void {
    const { buckets } = this.#options;
    const series = this.#series.get(key) ?? this.open(key, labelsOf());
    let at = 0;
    while (at < buckets.length && value > (buckets[at] as number)) at += 1;
    series.counts[at] = (series.counts[at] as number) + 1;
    series.sum += value;
  }

  /** Removes the series whose labels match. */
  drop(matches: (labels: Labels) => boolean): void {
    for (const [key, { labels }] of this.#series) if (matches(labels)) this.#series.delete(key);
  }

  async #read(): Promise<Pick<MetricObject, 'name' | 'help'> & { type: string; values: object[]; aggregator: 'sum' }> {
    const { name, help, buckets } = this.#options;
    const values = [...this.#series.values()].flatMap(({ labels, counts, sum }) => {
      let count = 0;
      const bounds = [...buckets, '+Inf'].map((le, at) => {
        count += counts[at] as number;
        return { metricName: `${name}_bucket`, labels: { le }, sharedLabels: labels, value: count };
      });
      return [
        ...bounds,
        { metricName: `${name}_sum`, labels, value: sum },
        { metricName: `${name}_count`, labels, value: count },
      ];
    });
    return { name, help, type: 'histogram', values, aggregator: 'sum' };
  }
}

import { monitorEventLoopDelay } from 'node:perf_hooks';
import { collectDefaultMetrics, Gauge, type Registry } from 'prom-client';

// prom-client looks at the event loop by a timer of 10 ms, which alone wakes an idle server 97 times a second. Its timer
// is set to a time that never comes, and its series are made from the turns that the loop takes anyway.
const NEVER_MS = 2 ** 31 - 1;
const LAG = 'nodejs_eventloop_lag';
const PERCENTILES = [50, 90, 99] as const;
const NANOSECONDS = 1e9;

function makeLagSeries(registry: Registry) {
  const make = (what: string, help: string): Gauge => {
    const name = `${LAG}${what}_seconds`;
    registry.removeSingleMetric(name);
    return new Gauge({ name, help, registers: [registry] });
  };
  return {
    last: make('', 'The longest turn of the event loop since the last scrape.'),
    min: make('_min', 'The shortest turn of the event loop since the last scrape.'),
    max: make('_max', 'The longest turn of the event loop since the last scrape.'),
    mean: make('_mean', 'The mean turn of the event loop since the last scrape.'),
    stddev: make('_stddev', 'The standard deviation of the turns of the event loop since the last scrape.'),
    percentiles: PERCENTILES.map((percentile) => ({
      percentile,
      gauge: make(`_p${percentile}`, `The ${percentile}th percentile of the turns of the event loop.`),
    })),
  };
}

/** The figures of the process itself: memory, processor time, garbage collection, event loop. Nothing of it needs a timer. */
export function openProcessMetrics(registry: Registry): { refresh(): void; stop(): void } {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: NEVER_MS });
  const turns = monitorEventLoopDelay({ samplePerIteration: true });
  const { percentiles, ...series } = makeLagSeries(registry);
  turns.enable();
  return {
    refresh() {
      const seconds = (nanoseconds: number): number => (turns.count === 0 ? 0 : nanoseconds / NANOSECONDS);
      series.last.set(seconds(turns.max));
      series.min.set(seconds(turns.min));
      series.max.set(seconds(turns.max));
      series.mean.set(seconds(turns.mean));
      series.stddev.set(seconds(turns.stddev));
      for (const { percentile, gauge } of percentiles) gauge.set(seconds(turns.percentile(percentile)));
      turns.reset();
    },
    stop: () => void turns.disable(),
  };
}

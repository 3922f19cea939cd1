import { Gauge, type Registry } from 'prom-client';
import type { Gauges, GaugeWorld, Noun } from './noun.ts';

/** Creates gauges that are reset at each scrape. */
export function gaugeSet(registry: Registry) {
  const all: Gauge<string>[] = [];
  return {
    gauge<L extends string>(name: string, help: string, labelNames: L[] = []): Gauge<L> {
      const made = new Gauge({ name, help, labelNames, registers: [registry] });
      all.push(made as Gauge<string>);
      return made;
    },
    reset(): void {
      for (const gauge of all) gauge.reset();
    },
  };
}

/** The gauges of all nouns; two scrapes at once share one count. */
export function openGauges(nouns: readonly Noun[], world: GaugeWorld): Required<Gauges> {
  const opened = nouns.flatMap((noun) => noun.gauges?.(world) ?? []);
  let counting: Promise<void> | undefined;

  async function count(): Promise<void> {
    for (const gauges of opened) await gauges.refresh();
  }

  return {
    refresh() {
      counting ??= count().finally(() => {
        counting = undefined;
      });
      return counting;
    },
    stop() {
      for (const gauges of opened) gauges.stop?.();
    },
  };
}

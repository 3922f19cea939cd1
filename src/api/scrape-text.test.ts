import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { scrapeText } from './scrape-text.ts';

function someMetrics(): Registry {
  const registry = new Registry();
  const registers = [registry];
  const gauge = new Gauge({ name: 'a_gauge', help: 'A gauge.', labelNames: ['pool'], registers });
  gauge.set({ pool: 'back\\slash "quoted"\nline' }, -0.5);
  gauge.set({ pool: 'endless' }, Number.POSITIVE_INFINITY);
  gauge.set({ pool: 'endless below' }, Number.NEGATIVE_INFINITY);
  new Counter({ name: 'a_counter', help: 'A counter.', registers }).inc(1e21);
  new Gauge({ name: 'no_values', help: 'None.', labelNames: ['x'], registers });
  const times = new Histogram({ name: 'times', help: 'Times.', labelNames: ['route'], buckets: [0.1, 1], registers });
  times.observe({ route: '/a' }, 0.5);
  times.observe({ route: '/b' }, 3);
  return registry;
}

test('a scrape is what the library would write', async () => {
  const registry = someMetrics();

  expect(await scrapeText(registry, systemClock)).toBe(await registry.metrics());
});

test('one metric of many series is written in slices', async () => {
  let nowMs = 0;
  let turns = 0;
  const clock = {
    ...systemClock,
    monotonic: () => (nowMs += 10),
    soon(run: () => void) {
      turns += 1;
      queueMicrotask(run);
    },
  };
  const registry = new Registry();
  const gauge = new Gauge({ name: 'g', help: 'Many.', labelNames: ['pool'], registers: [registry] });
  for (let at = 0; at < 100; at++) gauge.set({ pool: String(at) }, at);

  await scrapeText(registry, clock);

  expect(turns).toBe(100);
});

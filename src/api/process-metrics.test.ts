import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { openProcessMetrics } from './process-metrics.ts';

test('the turns of the event loop have the names that dashboards know, each once, beside memory and processor time', async () => {
  const registry = new Registry();
  const metrics = openProcessMetrics(registry);

  metrics.refresh();
  const text = await registry.metrics();
  metrics.stop();

  for (const what of ['', '_min', '_max', '_mean', '_stddev', '_p50', '_p90', '_p99'])
    expect(text.match(new RegExp(`^nodejs_eventloop_lag${what}_seconds \\d`, 'gm'))).toHaveLength(1);
  expect(text).toContain('process_resident_memory_bytes');
  expect(text).toContain('process_cpu_seconds_total');
});

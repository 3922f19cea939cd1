import { expect, test } from 'vitest';
import { isMet, MEASURES, type MeasureName, ratioOf, targetOf } from './measures.ts';
import { jsonLine, tableLine } from './print.ts';
import { BENCHES } from './registry.ts';
import { REFERENCE } from './yardsticks.ts';

/** What the design asks for on two cores. */
const TARGETS: Partial<Record<MeasureName, number>> = {
  'decision-p99': 50,
  'reconcile-time': 500,
  'reconcile-stall': 50,
  'listing-stall': 50,
  'placement-rate': 20_000,
  'session-cpu-10x1-10': 416,
  'session-cpu-100x1-64': 306,
  'session-cpu-list-100': 70,
  'warm-session-p99': 25,
  'steady-heap': 4,
  'steady-rss': 32,
  'steady-rows': 0,
  'steady-log': 4,
  'steady-wal': 64,
  'port-forward-up-share': 0.3,
  'port-forward-down-share': 0.3,
  'sync-first-share': 5,
  'sync-again-share': 3,
  'whatif-week': 1_000,
  'whatif-stall': 50,
  'template-share': 0.5,
  'template-longest': 100,
  'runtime-grants': 5_000,
  'runtime-grants-postgres': 3_000,
  'runtime-oversubscribed': 0,
  'runtime-objects-p99': 1_000,
  'runtime-objects-share': 0.5,
  'computer-exec-share': 3,
  'computer-create-share': 1.5,
  'image-unchanged-calls': 3,
  'memory-pool': 8,
  'memory-worker': 2,
  'memory-agent': 60,
  'memory-agent-tls': 100,
  'next-offer': 1_000,
  'launches-unaccounted': 0,
  'gcp-launches-unaccounted': 0,
  'azure-launches-unaccounted': 0,
  'nebius-launches-unaccounted': 0,
  'digitalocean-launches-unaccounted': 0,
  'mithril-launches-unaccounted': 0,
  'parameters-unchanged-writes': 0,
  'parameters-unchanged-woken': 0,
  'gcs-unchanged-calls': 10,
  'gcs-unchanged-cpu': 100,
  'gcs-unchanged-writes': 0,
  'gcs-unchanged-woken': 0,
  'gcs-unchanged-share': 0.2,
  'reload-stall': 50,
  'restart-time': 8,
  'restart-wrong': 0,
  'takeover-time': 5,
  'simulated-day': 20,
  'start-time': 1.5,
  'start-memory': 140,
  'cli-cpu': 250,
  'rest-cpu': 0.3,
  'dashboard-first-page': 60,
  'overview-size': 20,
  'overview-cpu': 5,
  'unseen-memory': 1,
  'series-share': 5,
  'series-memory': 1.2,
  'nodes-plan': 1_000,
  'nodes-plan-stall': 50,
  'nodes-evaluate': 50,
  'nodes-memory': 60,
  'replay-share': 0.8,
};

test('every target of the design is a measure, and no other measure has one', () => {
  const names = Object.keys(MEASURES) as MeasureName[];
  const found = Object.fromEntries(
    names.flatMap((name) => (targetOf(name) === undefined ? [] : [[name, targetOf(name)]])),
  );

  expect(found).toEqual(TARGETS);
});

test('every measure is taken by one bench', () => {
  const taken = BENCHES.flatMap(({ measures }) => measures);

  expect(taken.toSorted()).toEqual(Object.keys(MEASURES).toSorted());
});

test('benches have names of their own, and a limit', () => {
  expect(new Set(BENCHES.map(({ name }) => name)).size).toBe(BENCHES.length);
  expect(BENCHES.filter(({ limitMs }) => !(limitMs > 0))).toEqual([]);
});

test('a value is good enough on the right side of its target', () => {
  expect([isMet('decision-p99', 50), isMet('decision-p99', 51)]).toEqual([true, false]);
  expect([isMet('placement-rate', 20_000), isMet('placement-rate', 19_999)]).toEqual([true, false]);
  expect(isMet('decision-p50', 1)).toBeUndefined();
});

test('a machine that is slower by a yardstick may take as much longer, or do as much less', () => {
  const measured = { 'machine-js': 2 * REFERENCE['machine-js'] };

  expect(targetOf('reconcile-time', measured)).toBe(1_000);
  expect(targetOf('placement-rate', measured)).toBe(10_000);
  expect([isMet('reconcile-time', 900), isMet('reconcile-time', 900, measured)]).toEqual([false, true]);
  expect(ratioOf('reconcile-time', 900, measured)).toBeCloseTo(0.9);
  expect(ratioOf('placement-rate', 5_000, measured)).toBeCloseTo(2);
});

test('bytes, counts and what waits for a clock are the same on every machine', () => {
  const slow = Object.fromEntries(Object.entries(REFERENCE).map(([name, value]) => [name, value * 10]));

  for (const name of ['memory-pool', 'restart-wrong', 'takeover-time', 'start-memory'] as const)
    expect(targetOf(name, slow)).toBe(targetOf(name));
});

test('a figure is one object on a line, with its unit, its target and whether it is met', () => {
  const line = jsonLine({ name: 'takeover-time', variant: 'postgres', value: 3.5 });

  expect(JSON.parse(line)).toEqual({
    name: 'takeover-time/postgres',
    value: 3.5,
    unit: 's',
    design: 5,
    target: 5,
    ratio: 0.7,
    ok: true,
  });
  expect(JSON.parse(jsonLine({ name: 'decision-p50', value: 1 }))).toMatchObject({ target: null, ok: null });
});

test('people see beside a missed figure that it is', () => {
  expect(tableLine({ name: 'takeover-time', value: 6, note: 'worst of 5' })).toMatch(
    /6 s +≤ 5 s +≤ 5 s +1.20 +NO .*worst of 5/,
  );
});

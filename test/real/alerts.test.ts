import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { needed } from './parts/part.ts';
import { prometheusParts } from './parts/prometheus.ts';
import { run } from './parts/run.ts';

const RULES = join(import.meta.dirname, '../../deploy/helm/muster/files/alerts.yaml');
const part = await prometheusParts();

interface Case {
  readonly alert: string;
  readonly series: Readonly<Record<string, string>>;
  /** When it is looked at, and how many alerts fire then. */
  readonly at: string;
  readonly firing: number;
}

const fails = 'muster_source_sync_failures{source="ssm"}';
const age = 'muster_source_sync_age_seconds{source="ssm"}';
const denied = 'muster_cloud_call_seconds_count{kind="aws",call="list",fault="denied"}';
const good = 'muster_cloud_call_seconds_count{kind="aws",call="list",fault=""}';
const failed = 'muster_decisions_total{subject="pool",did="nothing",reason="launch-failed"}';
const queued = 'muster_queued_sessions{pool="gpu"}';

// One sample a minute.
const CASES: readonly Case[] = [
  { alert: 'MusterDown', series: { muster_frozen: '0x20' }, at: '10m', firing: 1 },
  { alert: 'MusterDown', series: { muster_pools: '1x20' }, at: '10m', firing: 0 },
  { alert: 'MusterSourceStale', series: { [age]: '0+60x30' }, at: '17m', firing: 1 },
  { alert: 'MusterSourceStale', series: { [age]: '30x30' }, at: '17m', firing: 0 },
  { alert: 'MusterSourceFails', series: { [fails]: '1+1x30' }, at: '5m', firing: 1 },
  { alert: 'MusterSourceFails', series: { [fails]: '0 1 0 0 1 0 0' }, at: '5m', firing: 0 },
  { alert: 'MusterCloudRefuses', series: { [denied]: '_ 1x30' }, at: '5m', firing: 1 },
  { alert: 'MusterCloudRefuses', series: { [good]: '0+1x30', [denied]: '1x30' }, at: '20m', firing: 0 },
  { alert: 'MusterLaunchesFail', series: { [failed]: '0+1x60' }, at: '20m', firing: 1 },
  { alert: 'MusterLaunchesFail', series: { [failed]: '3x60' }, at: '20m', firing: 0 },
  { alert: 'MusterSessionsWait', series: { [queued]: '2x60' }, at: '31m', firing: 1 },
  { alert: 'MusterSessionsWait', series: { [queued]: '2x20 0x40' }, at: '31m', firing: 0 },
  { alert: 'MusterFrozen', series: { muster_frozen: '1x90' }, at: '61m', firing: 1 },
  { alert: 'MusterFrozen', series: { muster_frozen: '1x30 0x60' }, at: '61m', firing: 0 },
];

test.for(CASES)('$alert has $firing alerts after $at of these samples', async (each, context) => {
  const { promtool } = needed(context, part);
  const folder = mkdtempSync(join(tmpdir(), 'muster-alerts-'));
  const query = `count(ALERTS{alertname="${each.alert}", alertstate="firing"}) or vector(0)`;
  const tests = [
    {
      interval: '1m',
      input_series: Object.entries(each.series).map(([series, values]) => ({ series, values })),
      promql_expr_test: [{ expr: query, eval_time: each.at, exp_samples: [{ labels: '{}', value: each.firing }] }],
    },
  ];
  const file = join(folder, 'test.yaml');
  writeFileSync(file, stringify({ rule_files: [RULES], evaluation_interval: '1m', tests }));

  const ran = await run(promtool, ['test', 'rules', file], { env: {} });
  rmSync(folder, { recursive: true });

  expect(`${ran.code} ${ran.code === 0 ? '' : `${ran.out}${ran.err}`}`).toBe('0 ');
});

test('every alert is tested both firing and silent', () => {
  const alerts = [...readFileSync(RULES, 'utf8').matchAll(/alert: (\w+)/g)].map(([, name = '']) => name);
  const outcomesOf = (name: string): number[] =>
    CASES.filter(({ alert }) => alert === name).map(({ firing }) => firing);

  expect(alerts.filter((name) => new Set(outcomesOf(name)).size < 2)).toEqual([]);
});

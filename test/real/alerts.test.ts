// The alerts of deploy/monitoring on recorded scrapes of real servers, by Prometheus's own promtool.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { needed } from './parts/part.ts';
import { prometheusParts } from './parts/prometheus.ts';
import { run } from './parts/run.ts';

const RULES = join(import.meta.dirname, '../../deploy/monitoring/alerts.yaml');
const part = await prometheusParts();

interface Case {
  readonly alert: string;
  /** A file of `scrapes`. */
  readonly scrapes: string;
  /** In minutes after the first scrape. */
  readonly at: number;
  readonly firing: number;
}

// Each fires as soon as its time has come, and not before.
const CASES: readonly Case[] = [
  // promtool takes the last sample for 5 minutes more; a Prometheus that scrapes knows at once that there is none.
  { alert: 'MusterDown', scrapes: 'stopped', at: 14, firing: 1 },
  { alert: 'MusterDown', scrapes: 'stopped', at: 12, firing: 0 },
  { alert: 'MusterSourceStale', scrapes: 'refused-credentials', at: 16, firing: 1 },
  { alert: 'MusterSourceStale', scrapes: 'refused-credentials', at: 13, firing: 0 },
  { alert: 'MusterSourceFails', scrapes: 'refused-credentials', at: 4, firing: 1 },
  { alert: 'MusterSourceFails', scrapes: 'refused-credentials', at: 2, firing: 0 },
  { alert: 'MusterDocumentsRefused', scrapes: 'frozen', at: 19, firing: 1 },
  { alert: 'MusterDocumentsRefused', scrapes: 'frozen', at: 15, firing: 0 },
  { alert: 'MusterRemovalHeld', scrapes: 'frozen', at: 20, firing: 1 },
  { alert: 'MusterRemovalHeld', scrapes: 'frozen', at: 15, firing: 0 },
  { alert: 'MusterCloudRefuses', scrapes: 'refused-credentials', at: 4, firing: 1 },
  { alert: 'MusterLaunchesFail', scrapes: 'failing-launches', at: 20, firing: 1 },
  { alert: 'MusterLaunchesFail', scrapes: 'failing-launches', at: 13, firing: 0 },
  { alert: 'MusterSessionsWait', scrapes: 'failing-launches', at: 31, firing: 1 },
  { alert: 'MusterSessionsWait', scrapes: 'failing-launches', at: 29, firing: 0 },
  { alert: 'MusterNodesNotServed', scrapes: 'nodes', at: 17, firing: 1 },
  { alert: 'MusterNodesNotServed', scrapes: 'nodes', at: 15, firing: 0 },
  { alert: 'MusterNodesWithoutCapacity', scrapes: 'nodes', at: 17, firing: 1 },
  { alert: 'MusterNodesWithoutCapacity', scrapes: 'nodes', at: 15, firing: 0 },
  { alert: 'MusterNodesPodsSetAside', scrapes: 'nodes', at: 17, firing: 1 },
  { alert: 'MusterNodesPodsSetAside', scrapes: 'nodes', at: 15, firing: 0 },
  { alert: 'MusterNodesNeverRegister', scrapes: 'unregistered', at: 3, firing: 1 },
  { alert: 'MusterNodesNeverRegister', scrapes: 'unregistered', at: 1, firing: 0 },
  { alert: 'MusterNodesRotateLate', scrapes: 'ending', at: 8, firing: 1 },
  { alert: 'MusterNodesRotateLate', scrapes: 'ending', at: 1, firing: 0 },
  { alert: 'MusterFrozen', scrapes: 'frozen', at: 61, firing: 1 },
  { alert: 'MusterFrozen', scrapes: 'frozen', at: 59, firing: 0 },
];

const alerts = [...readFileSync(RULES, 'utf8').matchAll(/alert: (\w+)/g)].map(([, name = '']) => name);

interface Series {
  readonly series: string;
  readonly values: string | number;
}

/** The last scrape is repeated for an hour: what it shows had not changed by then. */
function recorded(name: string): Series[] {
  const scrapes = parse(readFileSync(join(import.meta.dirname, 'scrapes', `${name}.yaml`), 'utf8')) as Series[];
  return scrapes.map(({ series, values }) => {
    const last = String(values).split(' ').at(-1)?.split('x')[0];
    return { series, values: `${values} ${last}x60` };
  });
}

/** What promtool complains about; empty where so many alerts fire. */
async function promtoolSays(promtool: string, { alert, scrapes, at, firing }: Case): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'muster-alerts-'));
  const query = `count(ALERTS{alertname="${alert}", alertstate="firing"}) or vector(0)`;
  const tests = [
    {
      interval: '1m',
      input_series: recorded(scrapes),
      promql_expr_test: [{ expr: query, eval_time: `${at}m`, exp_samples: [{ labels: '{}', value: firing }] }],
    },
  ];
  const file = join(folder, 'test.yaml');
  writeFileSync(file, stringify({ rule_files: [RULES], evaluation_interval: '1m', tests }));
  const ran = await run(promtool, ['test', 'rules', file], { env: {} });
  rmSync(folder, { recursive: true });
  return ran.code === 0 ? '' : `${ran.code} ${ran.out}${ran.err}`;
}

test.for(CASES)('$alert has $firing alerts $at minutes into the scrapes $scrapes', async (each, context) => {
  const { promtool } = needed(context, part);

  expect(await promtoolSays(promtool, each)).toBe('');
});

test.for(alerts)('%s does not fire for a server in good health', async (alert, context) => {
  const { promtool } = needed(context, part);

  expect(await promtoolSays(promtool, { alert, scrapes: 'healthy', at: 35, firing: 0 })).toBe('');
});

test('every alert is seen firing', () => {
  const seen = new Set(CASES.filter(({ firing }) => firing > 0).map(({ alert }) => alert));

  expect(alerts.filter((alert) => !seen.has(alert))).toEqual([]);
});

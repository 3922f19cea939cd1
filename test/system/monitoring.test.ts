// What deploy/monitoring asks Prometheus for, beside what a real server shows.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { noun } from '../../src/api/nodes.ts';
import type { GaugeWorld } from '../../src/api/noun.ts';
import { nodesOfOne } from '../../src/api/testing/nodes.ts';
import { emptyDisk, memoryDriver } from '../../src/store/memory.ts';
import { openStore } from '../../src/store/store.ts';
import { runCli } from './harness/cli.ts';
import { placeServer, startServer } from './harness/server.ts';
import { openWorld, ROOT } from './harness/world.ts';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

interface Rule {
  readonly alert: string;
  readonly expr: string;
}

const rules = (parse(read('deploy/monitoring/alerts.yaml')) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  (group) => group.rules,
);

function dashboardQueries(): string[] {
  const queries: string[] = [];
  JSON.parse(read('deploy/monitoring/dashboard.json'), (key, value) => {
    if ((key === 'expr' || key === 'query') && value !== 'prometheus') queries.push(value);
    return value;
  });
  return queries;
}

// What Prometheus adds: the place that was scraped.
const OF_PROMETHEUS = ['instance'];

/** By the name of each series, its labels. */
function labelsIn(scrape: string): Map<string, Set<string>> {
  const labels = new Map<string, Set<string>>();
  for (const line of scrape.split('\n')) {
    const [, name = '', list = ''] = /^(\w+)(?:\{(.*)\})? /.exec(line) ?? [];
    const known = labels.get(name) ?? new Set();
    labels.set(name, known);
    for (const [, label = ''] of list.matchAll(/(\w+)="(?:[^"\\]|\\.)*"/g)) known.add(label);
  }
  return labels;
}

/** What a query names and no series has. */
function unknownIn(query: string, labels: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const names = [...query.matchAll(/\b(?:muster|process|velda)_[a-z_]+/g)].map(([name]) => name);
  const known = new Set([...names.flatMap((name) => [...(labels.get(name) ?? [])]), ...OF_PROMETHEUS]);
  const grouped = [...query.matchAll(/\b(?:by|on) \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(', '));
  const matched = [...query.matchAll(/(\w+)(?:=~|!~|!=|=)"/g)].map(([, label = '']) => label);
  const listed = [...query.matchAll(/label_values\(\w+, (\w+)\)/g)].map(([, label = '']) => label);
  const unknown = [...grouped, ...matched, ...listed].filter((label) => !known.has(label));
  return [
    ...names.filter((name) => !labels.has(name)),
    ...unknown.map((label) => `${label} of ${names}`),
    ...(names.length === 0 ? [`no metric in ${query}`] : []),
  ];
}

/** What the gauges of nodes show where there is a NodeProvisioner, which this server has not. */
async function scrapeOfNodes(): Promise<string> {
  const registry = new Registry();
  const store = await openStore(memoryDriver(emptyDisk()), () => {});
  const world = { registry, store, features: () => ({ nodes: nodesOfOne }) };
  const gauges = noun.gauges?.(world as unknown as GaugeWorld);
  await gauges?.refresh();
  gauges?.stop?.();
  await store.close();
  return registry.metrics();
}

let labels: ReadonlyMap<string, ReadonlySet<string>>;

beforeAll(async () => {
  const world = openWorld();
  try {
    const backends = [{ process: { env: world.mark }, price_per_hour: 0.25 }];
    const scaler = { backends, max_agents: 1, min_idle_agents: 0, max_idle_agents: 1, max_price_per_hour: 1 };
    const place = await placeServer(world, { agent_pools: [{ name: 'here', auto_scaler: scaler }] });
    await startServer(world, place).ready();
    const address = { MUSTER_ADDRESS: `http://127.0.0.1:${place.http}` };
    const ran = await runCli(world, ['run', '--pool', 'here', '--', 'true'], address);
    expect(ran.code, ran.err).toBe(0);
    const headers = { authorization: `Bearer ${world.read('data/admin.token').trim()}` };
    const scrape = await fetch(`${address.MUSTER_ADDRESS}/metrics`, { headers });
    labels = new Map([...labelsIn(await scrape.text()), ...labelsIn(await scrapeOfNodes())]);
  } finally {
    await world.close();
  }
});

describe('deploy/monitoring', () => {
  test.each(rules)('the alert $alert asks for metrics and labels that a server has', ({ expr }) => {
    expect(unknownIn(expr, labels)).toEqual([]);
  });

  test('the dashboard asks for metrics and labels that a server has', () => {
    const queries = dashboardQueries();

    expect(queries.flatMap((query) => unknownIn(query, labels))).toEqual([]);
    expect(queries.length).toBeGreaterThan(15);
  });

  test('a query for what no server has is found', () => {
    expect(unknownIn('max by (poole) (muster_pools)', labels)).toEqual(['poole of muster_pools']);
    expect(unknownIn('sum(muster_workers{faze=~"idle"})', labels)).toEqual(['faze of muster_workers']);
    expect(unknownIn('rate(muster_session_ended_total[5m])', labels)).toEqual(['muster_session_ended_total']);
  });

  test('recorded scrapes have the labels that a server shows now', () => {
    const recorded = globSync('test/real/scrapes/*.yaml', { cwd: ROOT }).map(read).join('\n');
    const series = [...recorded.matchAll(/series: (.*)/g)].map(([, one = '']) => `${one} 1`).join('\n');

    const other = [...labelsIn(series)].filter(([name, own]) => {
      const now = labels.get(name) ?? new Set();
      return [...own].some((label) => !now.has(label)) || own.size !== now.size;
    });

    expect(other.map(([name]) => name)).toEqual([]);
    expect(series.length).toBeGreaterThan(0);
  });

  test('alerts name reasons that decisions have', () => {
    const reasons = rules.flatMap(({ expr }) => /reason=~"([^"]+)"/.exec(expr)?.[1]?.split('|') ?? []);
    const documented = read('docs/reference/reasons.md');

    expect(reasons.filter((reason) => !documented.includes(`| \`${reason}\` |`))).toEqual([]);
    expect(reasons.length).toBeGreaterThan(0);
  });

  test('the guide says of every alert what to do, and of no other', () => {
    const described = [...read('docs/guides/monitoring.md').matchAll(/^\| `(Muster\w+)` \|/gm)].map(([, name]) => name);

    expect(described).toEqual(rules.map(({ alert }) => alert));
  });
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { type Clock, systemClock } from '#core/clock.ts';
import { loadServerConfig } from './load.ts';
import { openYaml } from './long-yaml.ts';
import { problemsFault } from './problem.ts';
import { readServerFile } from './server-file.ts';
import { standInKinds, testEnvironment } from './testing.ts';
import type { ConfigNode } from './tree.ts';
import { readYaml } from './yaml-document.ts';

const folder = mkdtempSync(join(tmpdir(), 'muster-long-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const environment = testEnvironment({ TEAM: 'ml' });
const pool = (at: number): string =>
  `  - name: pool-${at}\n    labels: { team: "\${TEAM}" }\n    auto_scaler:\n      <<: *shared\n      max_agents: ${at + 1}\n`;

/** As long as a file must be to be read elsewhere. */
function longFile(pools: number, more = ''): string {
  const head = 'server: { http_address: ":9000" }\nstorage: {}\nagent_pools:\n';
  const first =
    '  - name: first\n    auto_scaler: &shared\n      backend: { aws_launch_template: {} }\n      max_idle_agents: 1\n      idle_decay: 5m\n';
  return head + first + Array.from({ length: pools }, (_, at) => pool(at)).join('') + more;
}

async function load(text: string, clock: Clock = systemClock) {
  const named = join(folder, 'muster.yaml');
  writeFileSync(named, text);
  return loadServerConfig({ named, environment, cpus: 2, kinds: async () => standInKinds, clock });
}

it('reads a long file to the same configuration as a short one', async () => {
  const text = longFile(800);
  const whole = readServerFile(text, { kinds: standInKinds, environment });

  const { config, warnings } = await load(text);

  expect(text.length).toBeGreaterThan(64 * 1_024);
  expect(config).toEqual(whole.value);
  expect(config.pools).toHaveLength(801);
  expect(warnings).toEqual(whole.warnings);
  expect(warnings).toHaveLength(1);
});

it('names every problem of a long file with its line, column and path, as in a short one', async () => {
  const text = longFile(800, '  - name: pool-3\n  - name: bad\n    auto_scaler: { max_agnets: 3 }\n  - 7\ntls: 1\n');
  const { problems = [] } = readServerFile(text, { kinds: standInKinds, environment });

  const refused = await load(text).catch((fault) => fault);

  expect(problems.map(({ path }) => path)).toEqual([
    'agent_pools[801].name',
    'agent_pools[802].auto_scaler.max_agnets',
    'agent_pools[803]',
    'tls',
  ]);
  expect(problems.every(({ line, column }) => line !== undefined && column !== undefined)).toBe(true);
  expect(refused.message).toBe(problemsFault(problems, join(folder, 'muster.yaml')).message);
});

it('names what is no YAML with its place', async () => {
  const text = longFile(800, '  - name: [\n');
  const { tree, close } = await openYaml(text);
  await close();

  expect(tree.problems).toEqual(readYaml(text).problems);
  expect(tree.problems?.[0]?.line).toBeGreaterThan(4_000);
});

it('hands out a long list in order, and a short one beside it', async () => {
  const text = longFile(800, 'provisioners: [1, 2]\n');
  const { items, close } = await openYaml(text);
  const found: ConfigNode[] = [];
  for await (const piece of items('agent_pools')) found.push(...piece);
  const short: ConfigNode[] = [];
  for await (const piece of items('provisioners')) short.push(...piece);
  await close();

  const whole = readYaml(text).value;
  const list = whole?.is === 'map' && whole.entries.find(({ key }) => key === 'agent_pools')?.value;
  expect(found).toEqual(list && list.is === 'list' && list.items);
  expect(short).toHaveLength(2);
});

it('lets others have their turn all the while', async () => {
  let nowMs = 0;
  let turns = 0;
  const clock: Clock = {
    ...systemClock,
    // Each look is a millisecond later: a slice is over after a few pools.
    monotonic: () => ++nowMs,
    soon(run) {
      turns += 1;
      systemClock.soon(run);
    },
  };

  await load(longFile(800), clock);

  expect(turns).toBeGreaterThan(100);
});

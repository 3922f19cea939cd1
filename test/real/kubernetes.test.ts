import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openWorld, type World } from '../system/harness/world.ts';
import { type KubeScene, openKubeScene } from './parts/kube-scene.ts';
import { kubernetesPrograms } from './parts/kubernetes.ts';
import { isMissing, needed, type Part } from './parts/part.ts';

const manifest = (name: string): string =>
  readFileSync(join(import.meta.dirname, 'kubernetes', `${name}.yaml`), 'utf8');

let world: World | undefined;
let part: Part<KubeScene>;

beforeAll(async () => {
  const programs = await kubernetesPrograms();
  if (isMissing(programs)) {
    part = programs;
    return;
  }
  world = openWorld();
  part = await openKubeScene(world, programs, { namespaces: ['default', 'team'] });
});

afterAll(() => world?.close());

const cells = (table: string): string[][] =>
  table
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/));

test('the pools of the guide become ready under the documented rights', async (context) => {
  const scene = needed(context, part);
  const { cluster } = scene;

  const said = await cluster.apply(...['velda-config', 'cpu-pool', 'gpu-pool', 'shell'].map(manifest));
  for (const pool of ['cpu-pool', 'gpu-pool', 'shell']) await scene.untilReady(pool);
  const [head, ...rows] = cells(await cluster.kubectl('get', 'ap', '-n', 'default'));
  const described = await cluster.kubectl('describe', 'agentpool', 'shell', '-n', 'default');
  const ofGroup = await scene.pods('group=velda-agent');
  const ofPool = await scene.pods('app=velda-agent,pool=gpu-pool');

  expect(cells(said).map(([object]) => object)).toEqual([
    'configmap/velda-config',
    ...['cpu-pool', 'gpu-pool', 'shell'].map((name) => `agentpool.velda.io/${name}`),
  ]);
  expect(head).toEqual(['NAME', 'READY', 'IDLE', 'BUSY', 'QUEUED', 'DESIRED', 'MAX', 'AGE']);
  expect(rows.map((row) => row.slice(0, -1))).toEqual([
    ['cpu-pool', '3', '3', '0', '0', '3', '20'],
    ['gpu-pool', '1', '1', '0', '0', '1', '10'],
    ['shell', '1', '1', '0', '0', '1', '4'],
  ]);
  expect(described).toMatch(/Message:\s+1 of 1 agents are connected\./);
  expect([ofGroup.length, ofPool.length]).toEqual([1, 1]);
});

test('a session of a pool of the guide ends with its output and its exit code', async (context) => {
  const scene = needed(context, part);

  const ran = await scene.muster('run', '-p', 'shell', '--', 'sh', '-c', 'echo out; echo err >&2; exit 3');

  expect(ran).toEqual({ code: 3, out: 'out\n', err: 'err\n' });
});

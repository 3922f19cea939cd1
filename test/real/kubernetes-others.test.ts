// What others bring into the cluster of a pool: pods with its marks, and pools of its name from another source.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { until } from '#core/testing/until.ts';
import { type KubeScene, type Pod, smallPool } from './parts/kube-scene.ts';
import { needed } from './parts/part.ts';
import { sharedScene } from './parts/shared-scene.ts';

const folder = mkdtempSync(join(tmpdir(), 'muster-pools-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
mkdirSync(join(folder, 'pools'));
const part = sharedScene({ moreSources: [{ name: 'parameters', file: { path: join(folder, 'pools') } }] });

/** As `kubectl get -o yaml | kubectl apply` under another name makes it. */
async function copyPod({ cluster }: KubeScene, from: Pod, name: string): Promise<void> {
  const { metadata, spec } = from as Pod & { readonly spec: { readonly containers: readonly object[] } };
  const { labels, annotations } = metadata as Pod['metadata'] & { readonly annotations: object };
  const [agent] = spec.containers;
  const containers = [{ ...agent, args: ['--pool=nobody'], volumeMounts: [] }];
  await cluster.apply({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', labels, annotations },
    spec: { containers },
  });
}

const namesOf = async (scene: KubeScene, pool: string): Promise<string[]> =>
  (await scene.pods(`pool=${pool}`)).map(({ metadata }) => metadata.name);

async function eventsOf(scene: KubeScene, pod: string): Promise<{ kind: string; at: string }[]> {
  const { out } = await scene.muster('event', 'ls', '--subject', `machine/${pod}`, '-o', 'json');
  return JSON.parse(out) as { kind: string; at: string }[];
}

test('a pod with the marks of a pool and without a record is deleted after killUnknownAfterSecond, with 0 never', async (context) => {
  const scene = needed(context, part());
  await scene.cluster.apply(
    smallPool('strict', 'default', { killUnknownAfterSecond: 5 }),
    smallPool('lenient', 'default', { killUnknownAfterSecond: 0 }),
  );
  for (const pool of ['strict', 'lenient']) {
    await scene.untilReady(pool);
    const [ours] = await scene.pods(`pool=${pool}`);
    await copyPod(scene, ours as Pod, `copy-of-${pool}`);
  }

  await until('the copy is gone', async () => !(await namesOf(scene, 'strict')).includes('copy-of-strict'));
  const strict = await until('its events', async () => {
    const events = await eventsOf(scene, 'copy-of-strict');
    return events.length === 2 && events;
  });
  const lenient = await until('an event', async () => {
    const events = await eventsOf(scene, 'copy-of-lenient');
    return events.length === 1 && events;
  });

  expect(strict.map(({ kind }) => kind).toSorted()).toEqual(['machine.orphaned', 'machine.swept']);
  const [first = 0, last = 0] = strict.map(({ at }) => Date.parse(at)).toSorted((a, b) => a - b);
  expect(last - first).toBeGreaterThanOrEqual(4_000);
  expect(lenient.map(({ kind }) => kind)).toEqual(['machine.orphaned']);
  expect(await namesOf(scene, 'lenient')).toContain('copy-of-lenient');
  await scene.cluster.kubectl('delete', 'agentpool', 'strict', 'lenient', '--timeout=200s');
  await until('no pod is left', async () => (await namesOf(scene, 'lenient')).length === 0);
});

test('of two sources that define gpu-pool and cpu-pool the first keeps each, and a dropped definition moves it', async (context) => {
  const scene = needed(context, part());
  const document = (name: string): string => join(folder, 'pools', `${name}.json`);
  const sourceOf = async (name: string): Promise<string> => (await scene.api.pool(name)).owner.source;
  writeFileSync(document('gpu-pool'), JSON.stringify({ name: 'gpu-pool' }));
  await until('the file defines gpu-pool', async () => (await sourceOf('gpu-pool')) === 'parameters');
  await scene.cluster.apply(smallPool('gpu-pool'), smallPool('cpu-pool'));
  await scene.untilReady('cpu-pool');
  const pods = await namesOf(scene, 'cpu-pool');
  writeFileSync(document('cpu-pool'), JSON.stringify({ name: 'cpu-pool' }));

  const gpu = await until('gpu-pool is taken', async () => {
    const condition = await scene.condition('gpu-pool', 'Synced');
    return condition.startsWith('False') && condition;
  });
  const cpu = await until(
    'cpu-pool is taken',
    async () => (await scene.muster('source', 'show', 'parameters')).out.match(/.*"cpu-pool" is owned by.*/)?.[0],
  );
  expect(gpu).toContain('False NameTaken: Pool "gpu-pool" is owned by source "parameters"');
  expect(cpu).toContain('source "all"');
  expect(await namesOf(scene, 'gpu-pool')).toEqual([]);
  expect(await namesOf(scene, 'cpu-pool')).toEqual(pods);

  rmSync(document('gpu-pool'));
  await scene.untilReady('gpu-pool');
  expect(await sourceOf('gpu-pool')).toBe('all');
});

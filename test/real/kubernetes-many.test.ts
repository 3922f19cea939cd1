// Many pods, edits and pools at once, a server that is killed, and one that comes back. Pods run no agents here.
import { expect, test } from 'vitest';
import { until } from '#core/testing/until.ts';
import { runCli } from '../system/harness/cli.ts';
import { type RunningServer, startServer } from '../system/harness/server.ts';
import { ADMIN } from './parts/control-plane.ts';
import { type KubeScene, type Pod, smallPool } from './parts/kube-scene.ts';
import { needed } from './parts/part.ts';
import { ACCOUNT_USER } from './parts/rights.ts';
import { sharedScene } from './parts/shared-scene.ts';

const part = sharedScene({ isWithoutAgents: true });
/** The one that runs now, if it is not the first. */
let second: RunningServer | undefined;

const uidsOf = (pods: readonly Pod[]): string[] => pods.map(({ metadata }) => metadata.uid).toSorted();

/** What the server wrote of pods, and the API server took. */
function written({ cluster }: KubeScene, verb: 'create' | 'delete'): number {
  return cluster.audited(ACCOUNT_USER).filter((each) => {
    const code = each.responseStatus?.code ?? 0;
    return each.verb === verb && each.objectRef?.resource === 'pods' && code >= 200 && code < 300;
  }).length;
}

const untilCount = (scene: KubeScene, selector: string, count: number): Promise<Pod[]> =>
  until(`${count} pods of ${selector}`, async () => {
    const pods = await scene.pods(selector);
    return pods.length === count && pods;
  });

/** In force, as its writer sees it. */
const untilSynced = (scene: KubeScene, name: string): Promise<boolean> =>
  until(`${name} is in force`, async () => {
    const { metadata, status } = await scene.pool(name);
    const synced = status?.conditions.find(({ type }) => type === 'Synced');
    return synced?.status === 'True' && status?.observedGeneration === metadata.generation;
  });

test('a server that is killed at 27 of 60 pods has exactly 60 in the end, each made once', async (context) => {
  const scene = needed(context, part());
  const { cluster, world, server } = scene;
  const bounds = { minIdle: 0, maxIdle: 60, minReplicas: 60, maxReplicas: 60 };
  await cluster.apply(smallPool('sixty', 'default', bounds));
  await until('27 pods are made', () => written(scene, 'create') >= 27);

  await server.kill();
  second = await startServer(world, server).ready();
  const pods = await untilCount(scene, 'pool=sixty', 60);
  await untilSynced(scene, 'sixty');
  await until('the server has looked at them', async () => (await scene.pool('sixty')).status?.desired === 60);

  expect(uidsOf(await scene.pods('pool=sixty'))).toEqual(uidsOf(pods));
  expect([written(scene, 'create'), written(scene, 'delete')]).toEqual([60, 0]);
  await cluster.kubectl('delete', 'agentpool', 'sixty', '--timeout=200s');
  expect(await scene.pods('pool=sixty')).toEqual([]);
});

test('of fifty edits in a row the last is in force, and no pod is replaced', async (context) => {
  const scene = needed(context, part());
  const { cluster } = scene;
  const edited = (maxReplicas: number): object =>
    smallPool('edited', 'default', { minIdle: 0, maxIdle: 2, minReplicas: 2, maxReplicas });
  await cluster.apply(edited(3));
  const before = await untilCount(scene, 'pool=edited', 2);
  const made = [written(scene, 'create'), written(scene, 'delete')];

  await cluster.apply(...Array.from({ length: 50 }, (_, at) => edited(4 + at)));
  await untilSynced(scene, 'edited');

  const { metadata } = await scene.pool('edited');
  const shown = JSON.parse((await scene.muster('pool', 'show', 'edited', '-o', 'json')).out) as {
    readonly auto_scaler: { readonly max_agents: number };
  };
  expect(metadata.generation).toBe(51);
  expect(shown.auto_scaler.max_agents).toBe(53);
  expect(uidsOf(await scene.pods('pool=edited'))).toEqual(uidsOf(before));
  expect([written(scene, 'create'), written(scene, 'delete')]).toEqual(made);
  await cluster.kubectl('delete', 'agentpool', 'edited', '--timeout=200s');
});

test('300 pools at once have one pod each, and are deleted at once', async (context) => {
  const scene = needed(context, part());
  const { cluster } = scene;
  const made = written(scene, 'create');
  const pools = Array.from({ length: 300 }, (_, at) => {
    const pool = smallPool(`many-${at}`);
    const { template } = pool.spec;
    const metadata = { labels: { app: 'velda-agent', crowd: 'many' } };
    return { ...pool, spec: { ...pool.spec, template: { ...template, metadata } } };
  });

  await cluster.apply(...pools);
  const pods = await untilCount(scene, 'crowd=many', 300);

  expect(new Set(pods.map(({ metadata }) => metadata.name.replace(/-[^-]+-[^-]+$/, ''))).size).toBe(300);
  expect(written(scene, 'create') - made).toBe(300);
  // Some do not have our finalizer yet: the watch tells of their deletion.
  await cluster.kubectl('delete', 'agentpools', '--all', '-n', 'default', '--timeout=230s');
  await untilCount(scene, 'crowd=many', 0);
});

test('after an uninstallation the pods stay, and a later server on the same volume adopts them', async (context) => {
  const scene = needed(context, part());
  const { cluster, world, server } = scene;
  await cluster.apply(smallPool('kept', 'default', { minReplicas: 3, maxIdle: 3 }));
  const before = await untilCount(scene, 'pool=kept', 3);
  const made = [written(scene, 'create'), written(scene, 'delete')];

  // As the Job of the chart does it: first the server stops, then its finalizers go.
  const running = second ?? server;
  running.signal('SIGTERM');
  await running.ended;
  const released = await runCli(world, ['kube', 'release'], { KUBECONFIG: cluster.kubeconfigOf(ADMIN) });
  const finalizers = ['get', 'agentpool', 'kept', '-o', 'jsonpath={.metadata.finalizers}'];
  expect([released.code, await cluster.kubectl(...finalizers)]).toEqual([0, '']);
  expect(uidsOf(await scene.pods('pool=kept'))).toEqual(uidsOf(before));

  second = await startServer(world, server).ready();
  await until('the server serves the pool again', async () => (await cluster.kubectl(...finalizers)) !== '');
  await untilSynced(scene, 'kept');

  expect(uidsOf(await scene.pods('pool=kept'))).toEqual(uidsOf(before));
  expect([written(scene, 'create'), written(scene, 'delete')]).toEqual(made);
});

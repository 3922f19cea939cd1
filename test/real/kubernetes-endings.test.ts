import { expect, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { until } from '#core/testing/until.ts';
import { type KubeScene, smallPool } from './parts/kube-scene.ts';
import { needed } from './parts/part.ts';
import { untilAskedAfter, untilQuiet, writesOf } from './parts/quiet.ts';
import { ACCOUNT_USER } from './parts/rights.ts';
import { sharedScene } from './parts/shared-scene.ts';

// One source for all namespaces, and one beside it whose cluster is away all the time.
const part = sharedScene({ moreSources: [{ name: 'away', kubernetes: { kubeconfig: '/nowhere/kubeconfig' } }] });

const isGone = async ({ cluster }: KubeScene, name: string, namespace = 'default'): Promise<boolean> =>
  (await cluster.tryKubectl('get', 'agentpool', name, '-n', namespace)).err.includes('NotFound');

async function readyPool(scene: KubeScene, name: string, namespace = 'default'): Promise<void> {
  await scene.cluster.apply(smallPool(name, namespace));
  await scene.untilReady(name, namespace);
}

test('kubectl delete of an idle pool returns when its last pod is gone', async (context) => {
  const scene = needed(context, part());
  await readyPool(scene, 'idle');

  const said = await scene.cluster.kubectl('delete', 'agentpool', 'idle');

  expect(said).toContain('"idle" deleted');
  expect(await scene.pods('pool=idle')).toEqual([]);
});

test.for([
  { name: 'drained', cascade: 'background' },
  { name: 'foreground', cascade: 'foreground' },
])('$name: a busy pod finishes its session before its object goes', async ({ name, cascade }, context) => {
  const scene = needed(context, part());
  await readyPool(scene, name);
  const busy = await scene.occupy(name);
  await scene.untilReady(name);

  await scene.cluster.kubectl('delete', 'agentpool', name, `--cascade=${cascade}`, '--wait=false');
  const left = await until('only the busy pod is left', async () => {
    const pods = await scene.pods(`pool=${name}`);
    return pods.length === 1 && pods;
  });
  const draining = await until('a word about it', async () => {
    const condition = await scene.condition(name, 'Ready');
    return condition.includes('Draining') && condition;
  });
  const end = await busy.release(5);
  await until('the object goes', () => isGone(scene, name));

  expect(left.map(({ metadata }) => [metadata.name, metadata.deletionTimestamp])).toEqual([[busy.pod, undefined]]);
  expect(draining).toContain('1 sessions left');
  expect(end).toMatchObject({ how: 'exited', exit_code: 5 });
  expect(await scene.pods(`pool=${name}`)).toEqual([]);
});

test('the annotation for it ends the wait for busy pods', async (context) => {
  const scene = needed(context, part());
  await readyPool(scene, 'forced');
  const busy = await scene.occupy('forced');

  await scene.cluster.kubectl('delete', 'agentpool', 'forced', '--wait=false');
  await scene.cluster.kubectl('annotate', 'agentpool', 'forced', 'muster.io/force-delete=yes');
  await until('the object goes', () => isGone(scene, 'forced'));
  const end = await busy.ended();

  expect(end.how).not.toBe('exited');
  expect(await scene.pods('pool=forced')).toEqual([]);
});

test('all pools of a namespace that is deleted go with it, while another source is away', async (context) => {
  const scene = needed(context, part());
  await scene.cluster.kubectl('create', 'namespace', 'team');
  // So many agents that vanish at once for no reason would stop Muster from removing and launching.
  await Promise.all(['team-1', 'team-2', 'team-3', 'team-4'].map((name) => readyPool(scene, name, 'team')));

  await scene.cluster.kubectl('delete', 'namespace', 'team', '--timeout=200s');
  await until('the pools go', async () => {
    const { items } = await scene.api.get<{ items: { name: string }[] }>('/pools');
    return !items.some(({ name }) => name.startsWith('team-'));
  });
  await readyPool(scene, 'after-team');

  expect(await scene.pods('pool=after-team')).toHaveLength(1);
});

test('an API server that was away finds every pod as it was, and new objects are seen again', async (context) => {
  const scene = needed(context, part());
  await readyPool(scene, 'lasting');
  const busy = await scene.occupy('lasting');
  await scene.untilReady('lasting');
  const before = await scene.pods('pool=lasting');

  await scene.cluster.apiServer.stop('SIGKILL');
  const ran = await scene.muster('run', '-p', 'lasting', '--', 'echo', 'without it');
  await until('the server misses it', () => scene.server.logged('the view of a cluster does not follow').length > 0);
  await scene.cluster.apiServer.start();
  const sinceMs = systemClock.monotonic();
  await scene.cluster.apply(smallPool('after'));
  await until('the new object is seen', async () => (await scene.pool('after')).status?.observedGeneration === 1);
  const seenAfterMs = systemClock.monotonic() - sinceMs;
  await scene.untilReady('after');
  await scene.untilReady('lasting');
  const after = await scene.pods('pool=lasting');
  const end = await busy.release(0);

  process.stdout.write(`API server back: the first new object was answered after ${Math.round(seenAfterMs)} ms\n`);
  expect(ran).toMatchObject({ code: 0, out: 'without it\n' });
  expect(after.map(({ metadata }) => metadata.uid)).toEqual(before.map(({ metadata }) => metadata.uid));
  expect(end).toMatchObject({ how: 'exited', exit_code: 0 });
});

test('in a quiet minute nothing is written', async (context) => {
  const scene = needed(context, part());
  await readyPool(scene, 'quiet');
  await untilQuiet(scene, 2);
  const [before, asked] = [writesOf(scene), scene.cluster.audited(ACCOUNT_USER).length];

  await untilAskedAfter(scene, 60_000);
  const reads = scene.cluster.audited(ACCOUNT_USER).length - asked;

  process.stdout.write(`in a quiet minute the server made ${reads} requests to the API server\n`);
  expect(writesOf(scene).slice(before.length)).toEqual([]);
});

test('objects of others were never written to', async (context) => {
  const scene = needed(context, part());
  const stranger = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'stranger', namespace: 'default', labels: { app: 'velda-agent', pool: 'around' } },
    spec: { containers: [{ name: 'agent', image: 'veldaio/agent:latest' }] },
  };
  await scene.cluster.apply(stranger);
  const look = () => scene.cluster.kubectl('get', 'pod', 'stranger', '-o', 'json');
  await until('it runs', async () => (await look()).includes('"phase": "Running"'));
  const before = await look();

  await readyPool(scene, 'around');
  await scene.cluster.kubectl('delete', 'agentpool', 'around');
  const written = new Set(writesOf(scene).map((line) => line.split(' ')[1]));

  expect(await look()).toBe(before);
  expect([...written].toSorted()).toEqual(['agentpools', 'events', 'pods']);
});

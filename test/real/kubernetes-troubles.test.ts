import { expect, test } from 'vitest';
import { until } from '#core/testing/until.ts';
import { type AgentPoolDraft, type KubeScene, smallPool } from './parts/kube-scene.ts';
import { needed } from './parts/part.ts';
import { sharedScene } from './parts/shared-scene.ts';

const part = sharedScene();

/** The pool with another container of the agent. */
function withAgent(pool: AgentPoolDraft, agent: object, more: object = {}): AgentPoolDraft {
  const { template } = pool.spec;
  const container = { name: 'agent', image: 'veldaio/agent:latest', ...agent };
  return {
    ...pool,
    spec: { ...pool.spec, template: { ...template, spec: { containers: [container], ...more } } },
  };
}

const untilUnhealthy = (scene: KubeScene, pool: string, words: string) =>
  until(`${pool} says ${words}`, async () => {
    const condition = await scene.condition(pool, 'BackendHealthy');
    return condition.startsWith('False') && condition.includes(words) && condition;
  });

const numbered = (letter: string, count: number): string[] =>
  Array.from({ length: count }, (_, at) => `${letter}-${at}`);

async function readyPools(scene: KubeScene, names: readonly string[]): Promise<void> {
  await scene.cluster.apply(...names.map((name) => smallPool(name)));
  await Promise.all(names.map((name) => scene.untilReady(name)));
}

async function podsOf(scene: KubeScene, pools: readonly string[]): Promise<string[]> {
  const found = await Promise.all(pools.map((pool) => scene.pods(`pool=${pool}`)));
  return found.flat().map(({ metadata }) => metadata.name);
}

const scopes = async ({ api }: KubeScene): Promise<string[]> =>
  (await api.get<{ items: { scope: string }[] }>('/freezes')).items.map(({ scope }) => scope);

test('agents with a file of their own have the slots of their pool', async (context) => {
  const scene = needed(context, part());
  const volumeMounts = [{ name: 'config', mountPath: '/run/velda' }];
  const volumes = [{ name: 'config', emptyDir: {} }];
  const pool = smallPool('slots', 'default', { defaultSlotsPerAgent: 3, maxIdle: 3 });

  await scene.cluster.apply(withAgent(pool, { args: ['--pool=slots'], volumeMounts }, { volumes }));
  await scene.untilReady('slots');

  const shown = await scene.api.get<{ slots: { total: number } }>('/pools/slots');
  expect(shown.slots.total).toBe(3);
  await scene.cluster.kubectl('delete', 'agentpool', 'slots', '--timeout=60s');
});

test('a container that ends again and again is named with its last words', async (context) => {
  const scene = needed(context, part());
  // Without an argument no agent is started for the pod.
  await scene.cluster.apply(withAgent(smallPool('crashing'), {}));
  const [pod = ''] = await until('its pod runs', async () => {
    const pods = await scene.pods('pool=crashing');
    return pods.some(({ status }) => status.phase === 'Running') && pods.map(({ metadata }) => metadata.name);
  });
  const terminated = { exitCode: 2, reason: 'Error', message: "unknown option '--no-such-flag'" };
  const container = { name: 'agent', image: 'veldaio/agent:latest', imageID: '', ready: false, restartCount: 8 };
  const state = { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 5m0s restarting' } };
  const status = { containerStatuses: [{ ...container, state, lastState: { terminated } }] };

  await scene.cluster.kubectl('patch', 'pod', pod, '--subresource=status', '-p', JSON.stringify({ status }));
  const said = await untilUnhealthy(scene, 'crashing', 'exit code 2');
  const why = await scene.muster('pool', 'why', 'crashing');
  const events = await scene.muster('event', 'ls', '-p', 'crashing');

  expect(said).toContain(
    "CrashLoopBackOff: container agent ends again and again, last with exit code 2 (Error): unknown option '--no-such-flag'",
  );
  expect(why.out).toContain('Trouble: container agent ends again and again');
  expect(events.out).toContain('worker.trouble');
  await scene.cluster.kubectl('delete', 'agentpool', 'crashing', '--timeout=60s');
});

test('an agent that names another pool than that of its pod is refused, and its pool names pod and remedy', async (context) => {
  const scene = needed(context, part());
  await readyPools(scene, ['named']);
  await scene.cluster.apply(withAgent(smallPool('refused'), { args: ['--pool=named'] }));

  const said = await untilUnhealthy(scene, 'refused', 'refuses the agent');
  const [pod = ''] = await podsOf(scene, ['refused']);
  const why = await scene.muster('pool', 'why', 'refused');
  const events = await scene.muster('event', 'ls', '-p', 'refused');

  expect(said).toContain(`the server refuses the agent of ${pod} in pool refused`);
  expect(said).toContain("Correct `pool` in the agent's configuration.");
  expect(why.out).toContain('Trouble: the server refuses the agent');
  expect(events.out.match(/worker\.refused/g)).toHaveLength(1);
  await scene.cluster.kubectl('delete', 'agentpool', 'refused', 'named', '--timeout=60s');
});

test('pools that are deleted make no mass loss of earlier losses, and go also while the fleet is frozen', async (context) => {
  const scene = needed(context, part());
  const [lost, deleted] = [numbered('lost', 3), numbered('deleted', 8)];
  await readyPools(scene, [...lost, ...deleted, 'last']);
  await scene.silence(await podsOf(scene, lost));

  for (const name of deleted) await scene.cluster.kubectl('delete', 'agentpool', name, '--timeout=60s');
  const afterShrink = await scopes(scene);
  const more = numbered('more', 4);
  await readyPools(scene, more);
  await scene.silence(await podsOf(scene, more));
  await until('the fleet freezes', async () => (await scopes(scene)).includes('fleet'));
  const why = await scene.muster('pool', 'why', 'last');
  const said = await scene.cluster.kubectl('delete', 'agentpool', 'last', '--timeout=60s');
  const stillFrozen = await scopes(scene);
  await scene.cluster.kubectl('delete', 'agentpool', ...lost, ...more, '--timeout=60s');

  expect(afterShrink).toEqual([]);
  expect(why.out).toMatch(/The fleet is frozen since .* To thaw it, run `muster thaw`\./);
  expect(said).toContain('"last" deleted');
  expect(stillFrozen).toContain('fleet');
  expect(await podsOf(scene, [...lost, ...more, 'last'])).toEqual([]);
});

// What kubectl hears of AgentPools that do not have the agents that they must keep, and of those that are wrong.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { until } from '#core/testing/until.ts';
import { ROOT } from '../system/harness/world.ts';
import { type AgentPoolDraft, type KubeScene, smallPool } from './parts/kube-scene.ts';
import { needed } from './parts/part.ts';
import { ACCOUNT, documentedRights } from './parts/rights.ts';
import { run } from './parts/run.ts';
import { sharedScene } from './parts/shared-scene.ts';

const part = sharedScene({ namespaces: ['default', 'strict', 'unprivileged'] });

const withContainer = (pool: AgentPoolDraft, more: object): AgentPoolDraft => {
  const [container] = (pool.spec.template.spec as { containers: readonly object[] }).containers;
  const template = { ...pool.spec.template, spec: { containers: [{ ...container, ...more }] } };
  return { ...pool, spec: { ...pool.spec, template } };
};

/** What `kubectl wait` says while the object comes to that state: it must not have been Ready on the way. */
async function waitFor({ cluster, pool }: KubeScene, name: string, state: string, namespace = 'default') {
  const waiting = cluster.tryKubectl(
    ...['wait', '--for=condition=Ready', `agentpool/${name}`, '-n', namespace, '--timeout=20s'],
  );
  const reached = until(`${name} is ${state}`, async () => {
    const { status } = (await pool(name, namespace)) as { status?: { state?: string } };
    return status?.state === state;
  });
  const [{ code, err }] = await Promise.all([waiting, reached]);
  return { code, err };
}

const TIMED_OUT = { code: 1, err: expect.stringContaining('timed out waiting for the condition') };

test('kubectl wait does not succeed for a pool whose pods no node has room for', async (context) => {
  const scene = needed(context, part());

  await scene.cluster.apply(
    withContainer(smallPool('large', 'default', { minReplicas: 2 }), { resources: { requests: { cpu: '500' } } }),
  );

  expect(await waitFor(scene, 'large', 'AgentsStarting')).toEqual(TIMED_OUT);
  expect(await scene.condition('large', 'Ready')).toContain('False AgentsStarting: 0 of 2 agents are connected');
  expect(await scene.cluster.kubectl('get', 'ap', 'large', '-o', 'jsonpath={.status.desired}')).toBe('2');
});

test('kubectl wait does not succeed for a pool whose pods admission refuses', async (context) => {
  const scene = needed(context, part());
  await scene.cluster.kubectl('label', 'namespace', 'strict', 'pod-security.kubernetes.io/enforce=restricted');

  await scene.cluster.apply(smallPool('refused', 'strict'));

  expect(await waitFor(scene, 'refused', 'PodsRefused', 'strict')).toEqual(TIMED_OUT);
  expect(await scene.condition('refused', 'Ready', 'strict')).toContain('violates PodSecurity "restricted:latest"');
  const events = await until('a warning', async () => {
    const said = await scene.cluster.kubectl('get', 'events', '-n', 'strict', '--field-selector=type=Warning');
    return said.includes('PodsRefused') && said;
  });
  expect(events).toContain('agentpool/refused');
});

test('kubectl wait does not succeed for a pool whose pods the server has no right to create', async (context) => {
  const scene = needed(context, part());
  const rules = documentedRights().map((right) => ({
    ...right,
    verbs: right.verbs.filter((verb) => verb !== 'create'),
  }));
  const metadata = { name: ACCOUNT.name, namespace: 'unprivileged' };
  await scene.cluster.apply({ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata, rules });

  await scene.cluster.apply(smallPool('denied', 'unprivileged'));

  expect(await waitFor(scene, 'denied', 'PodsRefused', 'unprivileged')).toEqual(TIMED_OUT);
  expect(await scene.condition('denied', 'Ready', 'unprivileged')).toContain('cannot create resource "pods"');
});

test('kubectl wait does not succeed for a pool whose agent is lost', async (context) => {
  const scene = needed(context, part());
  await scene.cluster.apply(smallPool('lost', 'default', { maxReplicas: 1 }));
  await scene.untilReady('lost');
  const [pod] = await scene.pods('pool=lost');
  // The path of its file is in no other command line.
  const file = scene.world.path(`agents/${pod?.metadata.name}.yaml`);
  const { out } = await run('pgrep', ['-f', file], { env: { PATH: process.env.PATH ?? '' } });

  for (const id of out.trim().split('\n')) process.kill(Number(id), 'SIGKILL');
  await until('it is missed', async () => (await scene.condition('lost', 'Ready')).startsWith('False'));

  expect(await waitFor(scene, 'lost', 'AgentsLost')).toEqual(TIMED_OUT);
  expect(await scene.condition('lost', 'Ready')).toContain('0 of 1 agents are connected; 1 is disconnected.');
});

test('kubectl wait does not succeed for a pool whose pods never join, and launching is suspended', async (context) => {
  const scene = needed(context, part());
  const pool = withContainer(smallPool('silent', 'default', { minReplicas: 3 }), { args: ['--pool=nowhere'] });

  await scene.cluster.apply({ ...pool, spec: { ...pool.spec, bootTimeoutSeconds: 3 } });

  expect(await waitFor(scene, 'silent', 'LaunchingSuspended')).toEqual(TIMED_OUT);
});

test('kubectl wait does not succeed for a frozen pool until it is thawed by its annotation', async (context) => {
  const scene = needed(context, part());
  await scene.cluster.apply(smallPool('cold'));
  await scene.untilReady('cold');

  await scene.muster('freeze', '-p', 'cold');
  await until('it is frozen', async () => (await scene.condition('cold', 'Frozen')).startsWith('True PoolFrozen'));
  const frozen = await waitFor(scene, 'cold', 'Frozen');
  await scene.cluster.kubectl('annotate', 'agentpool', 'cold', 'velda.io/thaw=');
  await scene.untilReady('cold');

  expect(frozen).toEqual(TIMED_OUT);
  const { metadata } = (await scene.pool('cold')) as { metadata: { annotations?: object } };
  expect(Object.keys(metadata.annotations ?? {})).not.toContain('velda.io/thaw');
});

test('kubectl scale sets the fewest agents', async (context) => {
  const scene = needed(context, part());
  await scene.cluster.apply(smallPool('scaled', 'default', { maxReplicas: 3 }));
  await scene.untilReady('scaled');

  const said = await scene.cluster.kubectl('scale', 'agentpool', 'scaled', '--replicas=2');
  const { status } = await until('two agents', async () => {
    const pool = await scene.untilReady('scaled');
    return pool.status?.ready === 2 && pool;
  });

  expect(said).toContain('scaled');
  expect(status?.desired).toBe(2);
});

test('kubectl explain has a text for every field of the autoscaler', async (context) => {
  const { cluster } = needed(context, part());

  const said = await cluster.kubectl('explain', 'agentpool.spec.autoscaler');

  expect(said).toContain('The fewest agents to keep, idle or not.');
});

test('with the rules of the definition kubectl apply fails for what the server would refuse', async (context) => {
  const scene = needed(context, part());
  const { cluster } = scene;
  await cluster.apply(readFileSync(join(ROOT, 'deploy/kubernetes/agentpool-crd-cel.yaml'), 'utf8'));
  const pool = smallPool('ruled');
  const { spec } = pool;
  const apply = async (more: object): Promise<string> =>
    cluster.apply({ ...pool, spec: { ...spec, ...more } }).catch(({ message }: Error) => message);
  const refused = (said: string): boolean => said.includes('is invalid');

  // The API server takes up a changed definition in its own time.
  await until('the rules are in force', async () =>
    refused(await apply({ autoscaler: { ...spec.autoscaler, minReplicas: 4 } })),
  );
  const said = {
    bounds: await apply({ autoscaler: { ...spec.autoscaler, minReplicas: 4 } }),
    labels: await apply({ template: { ...spec.template, metadata: {} } }),
    containers: await apply({ template: { ...spec.template, spec: {} } }),
    nothing: await apply({ template: undefined }),
    both: await apply({ templates: [spec.template] }),
    several: await apply({ template: undefined, templates: [{ ...spec.template, metadata: {} }] }),
    networks: await apply({ agentAuth: 'network' }),
  };
  const good = await apply({});

  expect(said).toEqual({
    bounds: expect.stringContaining('minReplicas must not be above maxReplicas'),
    labels: expect.stringContaining('The template must have at least one label.'),
    containers: expect.stringContaining('must have the container of the agent'),
    nothing: expect.stringContaining('needs either template or templates'),
    both: expect.stringContaining('needs either template or templates'),
    several: expect.stringContaining('The template must have at least one label.'),
    networks: expect.stringContaining('agentNetworks is required with agentAuth: network'),
  });
  expect(good).toContain('agentpool.velda.io/ruled created');
  await scene.untilReady('ruled');
  const scaled = await cluster.tryKubectl('scale', 'agentpool', 'ruled', '--replicas=9');
  expect(scaled.code).toBe(1);
  expect(scaled.err).toContain('minReplicas must not be above maxReplicas');
});

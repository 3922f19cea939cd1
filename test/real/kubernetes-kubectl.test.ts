// The real kubectl says the same of the simulated cluster as of a real one.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { systemRandom } from '#core/random.ts';
import { until } from '#core/testing/until.ts';
import { anAgentPool, POOL_CRD } from '../../src/providers/kubernetes/fake/crds/testing.ts';
import { type ServedKubernetes, serveKubernetes } from '../../src/providers/kubernetes/fake/serve.ts';
import { aPod } from '../../src/providers/kubernetes/fake/testing.ts';
import { type KubernetesPrograms, kubernetesPrograms } from './parts/kubernetes.ts';
import { isMissing, needed, type Part } from './parts/part.ts';
import { type Ran, run } from './parts/run.ts';

let programs: Part<KubernetesPrograms> = { missing: 'kubectl' };
let served: ServedKubernetes;

function kubectl(...words: readonly string[]): Promise<Ran> {
  const env = { PATH: process.env.PATH ?? '', HOME: served.folder, KUBECONFIG: served.kubeconfig };
  return run((programs as KubernetesPrograms).program('kubectl'), words, { env });
}

/** Applies objects as kubectl does it by default, on the side of the client. */
async function apply(...objects: readonly object[]): Promise<Ran> {
  const path = join(served.folder, 'applied.json');
  writeFileSync(path, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
  return kubectl('apply', '-f', path);
}

const cells = (table: string): string[][] =>
  table
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s{2,}/));

const SIZES = { minReplicas: 2, maxReplicas: 20, minIdle: 3, maxIdle: 8, idleDecaySecond: 300 };

beforeAll(async () => {
  programs = await kubernetesPrograms();
  const behaviour = { startMs: 50, stopMs: 50, retryMs: 100 };
  served = await serveKubernetes({ clock: systemClock, random: systemRandom, behaviour });
  if (!isMissing(programs)) expect(await apply(POOL_CRD)).toMatchObject({ err: '', code: 0 });
});

beforeEach((context) => void needed(context, programs));

afterAll(() => served.close());

test('kubectl applies a pool, and only what has changed of it', async () => {
  const name = 'cpu-pool';

  const made = await apply(anAgentPool(name, SIZES));
  const same = await apply(anAgentPool(name, SIZES));
  const changed = await apply(anAgentPool(name, { ...SIZES, maxReplicas: 30 }));

  expect([made.out, same.out, changed.out]).toEqual([
    'agentpool.velda.io/cpu-pool created\n',
    'agentpool.velda.io/cpu-pool unchanged\n',
    'agentpool.velda.io/cpu-pool configured\n',
  ]);
  expect(served.fake.object('agentpools.velda.io', 'default', name)?.spec?.autoscaler).toMatchObject({
    maxReplicas: 30,
    killUnknownAfterSecond: 300,
  });
});

test('kubectl shows pools by their short name, with the columns of the definition', async () => {
  await apply(anAgentPool('shown', SIZES));
  const status = '{"status":{"conditions":[{"type":"Ready","status":"True"}]}}';
  await kubectl('patch', 'ap', 'shown', '--subresource=status', '--type=merge', '-p', status);

  const [head, row] = cells((await kubectl('get', 'ap', 'shown')).out);
  const [wide] = cells((await kubectl('get', 'ap', 'shown', '-o', 'wide')).out);
  const described = await kubectl('describe', 'agentpool', 'shown');

  expect(head?.join(' ')).toMatch(/^NAME\s+READY\s+MAX\s+AGE$/);
  expect(row?.join(' ')).toMatch(/^shown True 20 \d+s$/);
  expect(wide?.join(' ')).toMatch(/^NAME\s+READY\s+MAX\s+SLOTS\s+AGE$/);
  expect(described.out).toMatch(/Max Replicas:\s+20/);
  expect(described.out).toContain('Events:');
});

test('kubectl is refused what the schema forbids, in the words of the API server', async () => {
  const negative = await apply(anAgentPool('bad', { maxReplicas: -1 }));
  const unknown = await apply(anAgentPool('bad', { maxReplica: 1, maxReplicas: 1 }));

  expect(negative.err).toContain(
    'The AgentPool "bad" is invalid: spec.autoscaler.maxReplicas: Invalid value: -1: spec.autoscaler.maxReplicas in body should be greater than or equal to 0',
  );
  expect(unknown.err).toContain('strict decoding error: unknown field "spec.autoscaler.maxReplica"');
});

test('kubectl edits a pool by a patch, and its generation grows', async () => {
  await apply(anAgentPool('edited', SIZES));

  const patched = await kubectl(
    'patch',
    'ap',
    'edited',
    '--type=merge',
    '-p',
    '{"spec":{"autoscaler":{"maxReplicas":7}}}',
  );
  const { out } = await kubectl(
    'get',
    'ap',
    'edited',
    '-o',
    'jsonpath={.metadata.generation} {.spec.autoscaler.maxReplicas}',
  );

  expect(patched.out).toBe('agentpool.velda.io/edited patched\n');
  expect(out).toBe('2 7');
});

test('kubectl applies on the side of the server, and hears of conflicts', async () => {
  await apply(anAgentPool('shared', SIZES));
  const path = join(served.folder, 'shared.json');
  writeFileSync(path, JSON.stringify(anAgentPool('shared', { ...SIZES, maxReplicas: 9 })));

  const refused = await kubectl('apply', '--server-side', '--field-manager=other', '-f', path);
  const forced = await kubectl('apply', '--server-side', '--field-manager=other', '--force-conflicts', '-f', path);

  expect(refused.err).toContain(
    'conflict with "kubectl-client-side-apply" using velda.io/v1: .spec.autoscaler.maxReplicas',
  );
  expect(forced.out).toBe('agentpool.velda.io/shared serverside-applied\n');
});

test('kubectl waits with a delete until the last finalizer has gone', async () => {
  await apply(anAgentPool('held', SIZES));
  await kubectl('patch', 'ap', 'held', '--type=merge', '-p', '{"metadata":{"finalizers":["velda.io/drain"]}}');
  let isOver = false;

  const deleted = kubectl('delete', 'ap', 'held').finally(() => {
    isOver = true;
  });
  await until('a watch by kubectl', () => served.fake.watches.count('agentpools') > 0);
  expect(served.fake.object('agentpools.velda.io', 'default', 'held')?.metadata.deletionTimestamp).toBeDefined();
  expect(isOver).toBe(false);
  await kubectl('patch', 'ap', 'held', '--type=merge', '-p', '{"metadata":{"finalizers":[]}}');

  expect((await deleted).out).toContain('"held" deleted');
  expect(served.fake.object('agentpools.velda.io', 'default', 'held')).toBeUndefined();
});

test('kubectl finds pods by labels, waits for them, describes and deletes them', async () => {
  await apply(aPod('worker', {}, { app: 'velda-agent', pool: 'gpu-pool' }), aPod('other', {}, { app: 'other' }));

  const ready = await kubectl('wait', '--for=condition=Ready', 'pod/worker', '--timeout=120s');
  const [, ...rows] = cells((await kubectl('get', 'pods', '-l', 'app=velda-agent,pool=gpu-pool', '-o', 'wide')).out);
  const described = await kubectl('describe', 'pod', 'worker');
  const deleted = await kubectl('delete', 'pod', 'worker');

  expect(ready.out).toBe('pod/worker condition met\n');
  expect(rows.map(([name, state, phase]) => [name, state, phase])).toEqual([['worker', '1/1', 'Running']]);
  expect(described.out).toContain('Successfully assigned default/worker to node-');
  expect(deleted.code).toBe(0);
  expect(served.fake.object('pods', 'default', 'worker')).toBeUndefined();
});

test('kubectl applies a ConfigMap and a namespace again without touching what others added', async () => {
  const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'velda-config', namespace: 'default' } };
  await apply({ ...map, data: { a: '1', b: '1' } });
  await kubectl('patch', 'configmap', 'velda-config', '-p', '{"data":{"c":"1"}}');

  const { out } = await apply({ ...map, data: { a: '2' } });

  expect(out).toBe('configmap/velda-config configured\n');
  expect(served.fake.object('configmaps', 'default', 'velda-config')?.data).toEqual({ a: '2', c: '1' });
});

test('kubectl creates objects with its own commands, which speak protobuf', async () => {
  const map = await kubectl('create', 'configmap', 'made', '--from-literal=key=value');
  const secret = await kubectl('create', 'secret', 'generic', 'made', '--from-literal=key=value');
  const namespace = await kubectl('create', 'namespace', 'made');
  const role = await kubectl('create', 'role', 'made', '--verb=get,list', '--resource=pods');

  expect([map, secret, namespace, role].map(({ err }) => err)).toEqual(['', '', '', '']);
  expect(served.fake.object('configmaps', 'default', 'made')?.data).toEqual({ key: 'value' });
  expect(served.fake.object('secrets', 'default', 'made')?.data).toEqual({ key: 'dmFsdWU=' });
  expect(served.fake.object('roles.rbac.authorization.k8s.io', 'default', 'made')?.rules).toEqual([
    { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] },
  ]);
});

test('kubectl asks what an account may do', async () => {
  const account = 'system:serviceaccount:velda:velda-apiserver';
  const canI = (verb: string) =>
    kubectl('auth', 'can-i', verb, 'agentpools.velda.io', `--as=${account}`, '-n', 'default');
  const group = 'rbac.authorization.k8s.io';
  const before = await canI('list');
  await apply(
    {
      apiVersion: `${group}/v1`,
      kind: 'ClusterRole',
      metadata: { name: 'velda' },
      rules: [{ apiGroups: ['velda.io'], resources: ['agentpools'], verbs: ['get', 'list', 'watch'] }],
    },
    {
      apiVersion: `${group}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: 'velda' },
      roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'velda' },
      subjects: [{ kind: 'ServiceAccount', name: 'velda-apiserver', namespace: 'velda' }],
    },
  );

  const [list, remove] = [await canI('list'), await canI('delete')];

  expect([before.out, list.out, remove.out]).toEqual(['no\n', 'yes\n', 'no\n']);
});

// The oldest API server that can be had, with the kubectl of its time: the definition of AgentPools and the pools of the
// guide must work there as they do on the newest. It has no scheduler and no nodes; the tests say that pods run.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { until } from '#core/testing/until.ts';
import { openWorld, type World } from '../system/harness/world.ts';
import { type KubeScene, openKubeScene, smallPool } from './parts/kube-scene.ts';
import { OLDEST_KUBERNETES_VERSION, oldestKubernetesPrograms } from './parts/kubernetes.ts';
import { isMissing, needed, type Part } from './parts/part.ts';
import { ACCOUNT_USER } from './parts/rights.ts';

// Both wait for what controllers make.
const WITHOUT_CONTROLLERS = '--disable-admission-plugins=ServiceAccount,TaintNodesByCondition';
const POOLS = ['cpu-pool', 'gpu-pool', 'shell'];
const manifest = (name: string): string =>
  readFileSync(join(import.meta.dirname, 'kubernetes', `${name}.yaml`), 'utf8');

let part: Part<KubeScene>;
let world: World | undefined;

beforeAll(async () => {
  const programs = await oldestKubernetesPrograms();
  if (isMissing(programs)) {
    part = programs;
    return;
  }
  world = openWorld();
  const controlPlane = { parts: [], apiServerFlags: [WITHOUT_CONTROLLERS] };
  part = await openKubeScene(world, programs, { namespaces: ['default'], controlPlane });
}, 3_600_000);
afterAll(() => world?.close());

/** Writes into the status of pods what a node would: that they run, at the address of their agents. */
async function runPods({ cluster, pods }: KubeScene, count: number): Promise<void> {
  const found = await until(`${count} pods`, async () => {
    const all = await pods('');
    return all.length >= count && all;
  });
  const status = { phase: 'Running', podIP: '127.0.0.1', podIPs: [{ ip: '127.0.0.1' }] };
  for (const { metadata } of found)
    await cluster.kubectl(
      ...['patch', 'pod', metadata.name, '--subresource=status', '--type=merge'],
      ...['-p', JSON.stringify({ status })],
    );
}

test('it is the version that it should be, and keeps every field of the pools of the guide', async (context) => {
  const { cluster } = needed(context, part);

  await cluster.apply(...['velda-config', ...POOLS].map(manifest));
  const { serverVersion, clientVersion } = JSON.parse(await cluster.kubectl('version', '-o', 'json')) as Record<
    string,
    { readonly gitVersion: string }
  >;

  expect([serverVersion, clientVersion].map((one) => one?.gitVersion)).toEqual([
    `v${OLDEST_KUBERNETES_VERSION}`,
    `v${OLDEST_KUBERNETES_VERSION}`,
  ]);
  for (const pool of POOLS) {
    const written = parse(manifest(pool)) as { readonly spec: object };
    expect(await cluster.get('agentpool', pool)).toMatchObject({ spec: written.spec });
  }
});

test('a second kubectl apply changes nothing', async (context) => {
  const { cluster } = needed(context, part);

  const said = await cluster.apply(...POOLS.map(manifest));

  expect(said.trim().split('\n')).toEqual(POOLS.map((name) => `agentpool.velda.io/${name} unchanged`));
});

test('the pools of the guide become ready, and kubectl shows their columns', async (context) => {
  const scene = needed(context, part);

  await runPods(scene, 5);
  for (const pool of POOLS) await scene.untilReady(pool);
  const table = await scene.cluster.kubectl('get', 'ap', '-n', 'default');
  const ran = await scene.muster('run', '-p', 'shell', '--', 'sh', '-c', 'echo out; exit 3');

  expect(table.split('\n').map((line) => line.trim().split(/\s+/).slice(0, 8))).toEqual([
    ['NAME', 'STATUS', 'READY', 'IDLE', 'BUSY', 'QUEUED', 'DESIRED', 'MAX'],
    ['cpu-pool', 'Ready', '3', '3', '0', '0', '3', '20'],
    ['gpu-pool', 'Ready', '1', '1', '0', '0', '1', '10'],
    ['shell', 'Ready', '1', '1', '0', '0', '1', '4'],
    [''],
  ]);
  expect(ran).toMatchObject({ code: 3, out: 'out\n' });
});

test.for([
  { spec: { autoscaler: { maxReplicas: -1 } }, says: 'spec.autoscaler.maxReplicas' },
  { spec: { autoscaler: { minIdle: -1 } }, says: 'spec.autoscaler.minIdle' },
  { spec: { autoscaler: { defaultSlotsPerAgent: 0 } }, says: 'spec.autoscaler.defaultSlotsPerAgent' },
  { spec: { autoscaler: { maxReplicas: 'many' } }, says: 'spec.autoscaler.maxReplicas' },
  { spec: { updatePolicy: 'never' }, says: 'spec.updatePolicy' },
  { spec: { templates: [] }, says: 'spec.templates' },
])('$says: $spec is refused by the API server itself', async ({ spec, says }, context) => {
  const { cluster } = needed(context, part);

  const patch = ['patch', 'agentpool', 'cpu-pool', '--type=merge', '-p', JSON.stringify({ spec })];
  const { code, err } = await cluster.tryKubectl(...patch);

  expect(code).not.toBe(0);
  expect(err).toContain(says);
});

test('a key that is not known is kept, and the object says which was meant', async (context) => {
  const scene = needed(context, part);

  await scene.cluster.apply(smallPool('mistyped', 'default', { maxReplica: 2 }));
  const said = await until('a refusal', async () => {
    const condition = await scene.condition('mistyped', 'Synced');
    return condition.startsWith('False') && condition;
  });

  expect(said).toContain('spec.autoscaler.maxReplica: is not a known key; did you mean maxReplicas?');
});

test('kubectl delete returns when the pods of the pool are gone', async (context) => {
  const scene = needed(context, part);

  await scene.cluster.kubectl('delete', 'agentpool', 'gpu-pool', '--timeout=120s');

  expect(await scene.pods('pool=gpu-pool')).toEqual([]);
});

test('nothing that the server asked for was refused or unknown', async (context) => {
  const { cluster } = needed(context, part);

  const refused = cluster
    .audited(ACCOUNT_USER)
    .filter(({ responseStatus }) => [400, 403, 404, 415, 422].includes(responseStatus?.code ?? 0));

  expect(refused).toEqual([]);
});

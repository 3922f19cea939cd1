// Computers as Deployments on a real API server with a real node, under the rights that the command line prints.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '#core/testing/until.ts';
import type { Computer } from '../../src/api/wire/computer.ts';
import { runCli } from '../system/harness/cli.ts';
import { openWorld, type World } from '../system/harness/world.ts';
import { kubernetesPrograms } from './parts/kubernetes.ts';
import { AGENT_IMAGE } from './parts/node-image.ts';
import { nodeParts } from './parts/node-programs.ts';
import { type NodeScene, openNodeScene } from './parts/node-scene.ts';
import { isMissing, needed, type Part } from './parts/part.ts';
import { ACCOUNT_USER, grantPrinted } from './parts/rights.ts';
import type { Ran } from './parts/run.ts';

const PORT = 8_000;
const OF_COMPUTERS = ['-A', '-l', 'muster.io/machine'];

interface Pod {
  readonly metadata: { readonly name: string; readonly uid: string };
  readonly status: { readonly podIP?: string };
}

interface Slices {
  readonly items: readonly {
    readonly ports: readonly { readonly port: number }[];
    readonly endpoints: readonly {
      readonly addresses: readonly string[];
      readonly conditions: { readonly ready: boolean };
    }[];
  }[];
}

let world: World | undefined;
let part: Part<NodeScene> = { missing: 'the scene' };

beforeAll(async () => {
  const [programs, parts] = [await kubernetesPrograms(), await nodeParts()];
  if (isMissing(programs) || isMissing(parts)) {
    part = isMissing(programs) ? programs : (parts as { missing: string });
    return;
  }
  const opened = openWorld();
  world = opened;
  part = await openNodeScene(opened, programs, parts, async (cluster) =>
    grantPrinted(cluster, (await runCli(opened, ['kube', 'rbac', '--computers'])).out),
  );
});

afterAll(async () => {
  await world?.close();
  if (!isMissing(part)) await part.node.removeTraces();
});

const create = (scene: NodeScene, name: string, ...options: readonly string[]): Promise<Ran> =>
  scene.muster(
    ...['computer', 'create', name, '--platform', 'kubernetes', '--ttl', '1h', '--wait'],
    ...[`port=${PORT}`, ...options].flatMap((option) => ['--set', option]),
  );

const exec = (scene: NodeScene, ...words: readonly string[]): Promise<Ran> =>
  scene.muster('computer', 'exec', 'dev', '--', ...words);

const shown = async (scene: NodeScene, name: string): Promise<Computer> =>
  JSON.parse((await scene.muster('computer', 'show', name, '-o', 'json')).out) as Computer;

/** The kinds of all that the cluster has of computers, also of what is on its way out. */
async function kindsLeft({ node }: NodeScene): Promise<string[]> {
  const resources = 'deployments,replicasets,pods,services,secrets';
  const out = await node.cluster.kubectl('get', resources, ...OF_COMPUTERS, '-o', 'jsonpath={.items[*].kind}');
  return out.split(' ').filter(Boolean).toSorted();
}

async function podOf({ node }: NodeScene): Promise<Pod> {
  const { items } = await node.cluster.get<{ items: Pod[] }>('pods', ...OF_COMPUTERS);
  expect(items).toHaveLength(1);
  return items[0] as Pod;
}

/** What `/health` answers through the Service: the API server sends it to an endpoint that is ready. */
const healthOf = ({ node }: NodeScene, machine: string): Promise<string> =>
  node.cluster.kubectl('get', '--raw', `/api/v1/namespaces/default/services/${machine}:health/proxy/health`);

test('a computer comes up as a Deployment whose Service answers, and shows no credential outside of its Secret', async (context) => {
  const scene = needed(context, part);
  const { cluster } = scene.node;

  const created = await create(scene, 'dev', `image=${AGENT_IMAGE}`);
  expect(created).toMatchObject({ code: 0, out: expect.stringMatching(/Computer dev is running, until /) });
  const { machine = '', endpoints, status, agent } = await shown(scene, 'dev');
  const ran = await exec(scene, 'sh', '-c', 'echo in $(hostname); exit 3');
  const clusterIp = await cluster.kubectl('get', 'service', machine, '-o', 'jsonpath={.spec.clusterIP}');
  const pod = await podOf(scene);
  const { items } = await cluster.get<Slices>('endpointslices', '-l', `kubernetes.io/service-name=${machine}`);
  const open = await cluster.kubectl('get', 'deployments,replicasets,pods,services,events', '-A', '-o', 'json');
  const processes = await cluster.kubectl(
    'exec',
    pod.metadata.name,
    '--',
    'sh',
    '-c',
    'cat /proc/*/cmdline /proc/1/environ',
  );

  expect(await kindsLeft(scene)).toEqual(['Deployment', 'Pod', 'ReplicaSet', 'Secret', 'Service']);
  expect({ status, agent, endpoints }).toEqual({
    status: 'running',
    agent: true,
    endpoints: [{ host: clusterIp, port: PORT }],
  });
  expect(ran).toMatchObject({ code: 3, out: `in ${machine}\n` });
  expect(items.map(({ ports, endpoints: reached }) => [ports, reached])).toMatchObject([
    [[{ port: PORT }], [{ addresses: [pod.status.podIP], conditions: { ready: true } }]],
  ]);
  expect(JSON.parse(await healthOf(scene, machine))).toEqual({ healthy: true });
  for (const text of [open, processes]) expect(text).not.toMatch(/mlt_|joinToken/);
});

test('the pod that comes in place of a deleted one joins by the key in the Secret, with an empty disk', async (context) => {
  const scene = needed(context, part);
  const { cluster } = scene.node;
  const before = await podOf(scene);
  const { machine = '' } = await shown(scene, 'dev');
  expect(await exec(scene, 'touch', '/tmp/agent/was-here')).toMatchObject({ code: 0 });

  await cluster.kubectl('delete', 'pod', before.metadata.name);
  await until(
    'its successor runs commands',
    async () => (await exec(scene, 'test', '!', '-e', '/tmp/agent/was-here')).code === 0,
  );
  const after = await podOf(scene);
  const used = await exec(scene, 'cat', '/tmp/agent/agent.key');
  const kept = await cluster.kubectl('get', 'secret', machine, '-o', 'jsonpath={.data.agent\\.key}');
  const health = await until('its Service answers', () => healthOf(scene, machine).catch(() => ''));

  expect(after.metadata.uid).not.toBe(before.metadata.uid);
  expect(used.out).toBe(Buffer.from(kept, 'base64').toString());
  expect(JSON.parse(health)).toEqual({ healthy: true });
  expect(await shown(scene, 'dev')).toMatchObject({ status: 'running', agent: true, machine });
});

test('a computer that is removed leaves nothing', async (context) => {
  const scene = needed(context, part);

  const removed = await scene.muster('computer', 'rm', 'dev', '--wait');

  expect(await kindsLeft(scene)).toEqual([]);
  expect(removed).toMatchObject({ code: 0, out: expect.stringContaining('Computer dev is gone.') });
});

test('a computer whose pod the namespace refuses says why, and leaves nothing', async (context) => {
  const scene = needed(context, part);
  const { cluster } = scene.node;
  await cluster.kubectl('create', 'namespace', 'full');
  await cluster.kubectl('create', 'quota', 'none', '-n', 'full', '--hard=pods=0');

  const created = await create(
    scene,
    'refused',
    `image=${AGENT_IMAGE}`,
    'namespace=full',
    'timeout=20',
    'max_retries=1',
  );
  const left = await until('nothing is left', async () => (await kindsLeft(scene)).length === 0);
  const { status, failure } = await shown(scene, 'refused');

  expect(created.code).toBe(1);
  expect(created.out + created.err).toContain('exceeded quota: none');
  expect({ status, left }).toEqual({ status: 'error', left: true });
  expect(failure?.message).toContain('exceeded quota: none');
  expect(await scene.muster('computer', 'rm', 'refused', '--wait')).toMatchObject({ code: 0 });
});

test('nothing that the server asked for was refused', async (context) => {
  const { node } = needed(context, part);

  const asked = node.cluster.audited(ACCOUNT_USER);

  expect(
    asked.filter(({ verb, objectRef }) => verb === 'create' && objectRef?.resource === 'deployments'),
  ).toHaveLength(2);
  expect(asked.filter(({ responseStatus }) => responseStatus?.code === 403)).toEqual([]);
});

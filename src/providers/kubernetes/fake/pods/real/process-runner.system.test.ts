import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { parse } from 'yaml';
import { systemClock } from '#core/clock.ts';
import { systemRandom } from '#core/random.ts';
import { until, untilHolds } from '#core/testing/until.ts';
import { processStart } from '#host/processes.ts';
import { openFakePlane } from '../../../../../broker/testing.ts';
import type { KubeObject } from '../../objects/object.ts';
import { type ServedKubernetes, serveKubernetes } from '../../serve.ts';
import { aPod } from '../../testing.ts';

// Stands for the agent: writes down each start, and has a child in a session of its own.
const AGENT = `
echo "$*" >> "$HOME/story"
trap 'echo stopped >> "$TOLD"; exit 0' TERM
echo "$AGENT_NAME $POOL $ZONE" >> "$HOME/env"
echo $$ >> "$HOME/work/pids"
setsid sleep 1000 &
echo $! >> "$HOME/work/pids"
while :; do sleep 0.05; done
`;

let folder: string;
let served: ServedKubernetes;

async function serveWith(agentCommand: readonly string[]): Promise<void> {
  served = await serveKubernetes({
    clock: systemClock,
    random: systemRandom,
    behaviour: { startMs: 20, scheduleMs: 5, retryMs: 50 },
    folder,
    agentCommand,
  });
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'muster-pods-'));
});

afterEach(async () => {
  await served.close();
  rmSync(folder, { recursive: true, force: true });
});

async function create(plural: string, object: object): Promise<KubeObject> {
  const response = await fetch(`${served.address}/api/v1/namespaces/default/${plural}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(object),
  });
  expect(response.status).toBe(201);
  return (await response.json()) as KubeObject;
}

const remove = (name: string) =>
  fetch(`${served.address}/api/v1/namespaces/default/pods/${name}`, { method: 'DELETE' });

const podOf = (name: string): KubeObject | undefined => served.fake.object('pods', 'default', name);

const rootOf = ({ metadata }: KubeObject): string => join(folder, metadata.uid, 'containers/agent');

const lines = (path: string): string[] =>
  existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];

const living = (pids: readonly string[]): string[] => pids.filter((pid) => processStart(Number(pid)) !== undefined);

/** The agent of the test, with all that pods give to their containers. */
function anAgentPod(name: string): object {
  const container = {
    name: 'agent',
    image: 'veldaio/agent:latest',
    args: ['--pool=$(POOL)'],
    env: [
      { name: 'POOL', value: 'cpu-pool' },
      { name: 'ZONE', valueFrom: { fieldRef: { fieldPath: "metadata.labels['zone']" } } },
      { name: 'TOLD', value: join(folder, 'told') },
    ],
    volumeMounts: [
      { name: 'velda-config', mountPath: '/run/velda' },
      { name: 'work', mountPath: '/work' },
    ],
  };
  const volumes = [
    { name: 'velda-config', configMap: { name: 'velda-config' } },
    { name: 'work', emptyDir: {} },
  ];
  return aPod(name, { containers: [container], volumes }, { zone: 'a' });
}

async function aRunningAgent(): Promise<{ pod: KubeObject; pids: () => string[] }> {
  const script = join(folder, 'agent.sh');
  writeFileSync(script, AGENT);
  await serveWith(['/bin/sh', script]);
  const data = { 'velda.yaml': 'broker:\n  address: "velda-apiserver.default.svc.cluster.local:50051"\n' };
  await create('configmaps', { metadata: { name: 'velda-config' }, data });
  const pod = await create('pods', anAgentPod('worker'));
  const pids = (): string[] => lines(join(rootOf(pod), 'work/pids'));
  await until('two processes', () => pids().length >= 2 && podOf('worker')?.status?.phase === 'Running');
  return { pod, pids };
}

test('a pod of the agent runs it with its arguments, environment and files', async () => {
  const { pod } = await aRunningAgent();
  const root = rootOf(pod);

  expect(lines(join(root, 'story'))).toEqual(['agent --pool=cpu-pool']);
  expect(lines(join(root, 'env'))).toEqual(['worker cpu-pool a']);
  expect(lines(join(root, 'run/velda/velda.yaml'))[0]).toBe('broker:');
  expect(parse(readFileSync(`${root}.agent.yaml`, 'utf8'))).toEqual({
    broker: { address: '127.0.0.1:50051' },
    daemon_config: { work_dir_path: join(root, 'tmp/agent') },
  });
  expect(podOf('worker')?.status).toMatchObject({ podIP: '127.0.0.1' });
});

test('an agent that is killed is a container that restarts, with what it kept on its volume', async () => {
  const { pids } = await aRunningAgent();
  const before = pids();

  process.kill(Number(before[0]), 'SIGKILL');

  await untilHolds(() => {
    expect(pids()).toHaveLength(4);
    expect(podOf('worker')?.status?.containerStatuses).toMatchObject([
      { restartCount: 1, ready: true, lastState: { terminated: { exitCode: 137 } } },
    ]);
  });
  expect(living(before)).toEqual([]);
});

test('a pod that is deleted hears SIGTERM, and nothing of it is left', async () => {
  const { pod, pids } = await aRunningAgent();
  const before = pids();

  await remove('worker');
  await until('the end of the pod', () => podOf('worker') === undefined);

  expect(lines(join(folder, 'told'))).toEqual(['stopped']);
  expect(living(before)).toEqual([]);
  await untilHolds(() => expect(existsSync(join(folder, pod.metadata.uid))).toBe(false));
});

test('when it closes, no process of any pod is left', async () => {
  const { pids } = await aRunningAgent();

  await served.close();

  expect(living(pids())).toEqual([]);
  await serveWith([]);
});

test('a pod of another image runs nothing, and is ready all the same', async () => {
  await serveWith(['/bin/false']);

  const pod = await create('pods', aPod('web', { containers: [{ name: 'web', image: 'nginx' }] }));
  await until('a pod that runs', () => podOf('web')?.status?.phase === 'Running');

  expect(readdirSync(join(folder, pod.metadata.uid, 'containers'))).toEqual(['web']);
  expect(podOf('web')?.status).toMatchObject({ containerStatuses: [{ ready: true, restartCount: 0 }] });
});

test('the real agent joins the server that the file of its pod names', async () => {
  const plane = await openFakePlane();
  const program = inject('built')?.program ?? join(import.meta.dirname, '../../../../../main.ts');
  await serveWith([process.execPath, program]);
  const address = `velda-apiserver.default.svc.cluster.local:${plane.port}`;
  await create('configmaps', {
    metadata: { name: 'velda-config' },
    data: { 'velda.yaml': `broker: {address: "${address}"}` },
  });

  await create('pods', anAgentPod('worker'));
  await until('an agent that joins', () => plane.joined.length > 0);

  expect(plane.hellos[0]?.hello).toMatchObject({ name: 'worker', pool: 'cpu-pool' });
  await remove('worker');
  await until('the end of the pod', () => podOf('worker') === undefined);
  expect(plane.left.at(-1)).toMatchObject({ name: 'worker' });
  await plane.close();
});

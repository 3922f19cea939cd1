import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '#core/testing/until.ts';
import { openWorld, type World } from '../system/harness/world.ts';
import { kubernetesPrograms } from './parts/kubernetes.ts';
import { nodeParts } from './parts/node-programs.ts';
import { type NodeScene, openNodeScene } from './parts/node-scene.ts';
import { isMissing, needed, type Part } from './parts/part.ts';
import { LIST, makeProject } from './parts/synced-folder.ts';

const manifest = (name: string): string =>
  readFileSync(join(import.meta.dirname, 'kubernetes', `${name}.yaml`), 'utf8');

const shellAs = (name: string): string => manifest('shell').replace('name: shell\n', `name: ${name}\n`);

interface RunningPod {
  readonly status: {
    readonly containerStatuses: readonly {
      readonly restartCount: number;
      readonly state: { readonly running?: object };
    }[];
  };
}

let world: World | undefined;
let part: Part<NodeScene> = { missing: 'the scene' };

beforeAll(async () => {
  const [programs, parts] = [await kubernetesPrograms(), await nodeParts()];
  if (isMissing(programs) || isMissing(parts)) {
    part = isMissing(programs) ? programs : (parts as { missing: string });
    return;
  }
  world = openWorld();
  part = await openNodeScene(world, programs, parts);
});

afterAll(async () => {
  await world?.close();
  if (!isMissing(part)) await part.node.removeTraces();
});

test('the shell pool of the guide runs a session in a real pod, from apply to its exit code', async (context) => {
  const scene = needed(context, part);

  await scene.apply(manifest('velda-config'), manifest('shell'));
  await scene.untilReady('shell');
  const ran = await scene.muster('run', '-p', 'shell', '--', 'sh', '-c', 'echo "in $(cat /proc/1/cmdline)"; exit 3');

  expect(ran).toMatchObject({ code: 3, err: '' });
  expect(ran.out).toContain('/agent/agent.mjs');
});

test('a folder that is sent along is equal in a real pod in bytes, modes and links', async (context) => {
  const scene = needed(context, part);
  const folder = mkdtempSync(join(tmpdir(), 'muster-synced-'));
  context.onTestFinished(() => rmSync(folder, { recursive: true }));
  const list = makeProject(join(folder, 'project'));
  await scene.apply(manifest('velda-config'), manifest('shell'));
  await scene.untilReady('shell');

  const ran = await scene.muster('run', '-p', 'shell', '--sync', join(folder, 'project'), '--', ...LIST);

  expect(ran).toMatchObject({ code: 0, out: list });
});

test('a container that restarts under a session: the session ends once, and the pod goes on', async (context) => {
  const scene = needed(context, part);
  const script = 'echo started >>/tmp/agent/starts; sleep 20; echo ended >>/tmp/agent/ends';
  const started = await scene.muster('run', '-d', '-p', 'shell', '--', 'sh', '-c', script);
  const id = started.out.trim();
  const pod = await until('it runs', async () => {
    const { phase, worker } = await scene.session(id);
    return phase === 'running' && worker;
  });

  await scene.killAgent(pod);
  const end = await until('it ends', async () => (await scene.session(id)).end);
  const restarts = await until('the container runs again', async () => {
    const { status } = await scene.node.cluster.get<RunningPod>('pod', pod);
    const [agent] = status.containerStatuses;
    return agent?.state.running && agent.restartCount;
  });
  const after = await scene.muster('run', '-p', 'shell', '--', 'true');
  const starts = await scene.node.cluster.kubectl('exec', pod, '--', 'cat', '/tmp/agent/starts');

  process.stdout.write(`container restart under a session: it ended as ${JSON.stringify(end)}\n`);
  expect(restarts).toBe(1);
  expect(starts).toBe('started\n');
  expect(after.code).toBe(0);
});

test('an image that cannot be pulled is named in the status', async (context) => {
  const scene = needed(context, part);

  await scene.apply(shellAs('no-image').replace('veldaio/agent:latest', 'example.invalid/absent:1'));
  const said = await scene.untilFalse('no-image', 'BackendHealthy');

  expect(said).toContain('image example.invalid/absent:1 of container agent cannot be pulled');
});

test('a missing ConfigMap is named in the status', async (context) => {
  const scene = needed(context, part);

  await scene.apply(shellAs('no-config').replace('            name: velda-config\n', '            name: later\n'));
  const said = await scene.untilFalse('no-config', 'BackendHealthy');

  expect(said).toContain('configmap "later" not found');
});

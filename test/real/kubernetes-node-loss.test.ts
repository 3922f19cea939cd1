// A real node that loses its network, and one that dies, each with a running session.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '#core/testing/until.ts';
import { openWorld, type World } from '../system/harness/world.ts';
import { kubernetesPrograms } from './parts/kubernetes.ts';
import { nodeParts } from './parts/node-programs.ts';
import { type NodeScene, openNodeScene } from './parts/node-scene.ts';
import { isMissing, needed, type Part } from './parts/part.ts';

const manifest = (name: string): string =>
  readFileSync(join(import.meta.dirname, 'kubernetes', `${name}.yaml`), 'utf8');

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
  await part.apply(manifest('velda-config'), manifest('shell'));
  await part.untilReady('shell');
});

afterAll(async () => {
  await world?.close();
  if (!isMissing(part)) await part.node.removeTraces();
});

/** Starts a session of that script; answers its id and its pod once it runs. */
async function running(scene: NodeScene, script: string): Promise<{ readonly id: string; readonly pod: string }> {
  const { out } = await scene.muster('run', '-d', '-p', 'shell', '--', 'sh', '-c', script);
  const id = out.trim();
  const pod = await until('it runs', async () => {
    const { phase, worker } = await scene.session(id);
    return phase === 'running' && worker;
  });
  return { id, pod };
}

test('a cut network cable: the session runs on, once, and its result comes when the cable is back', async (context) => {
  const scene = needed(context, part);
  const script =
    'echo start >>/tmp/agent/cable; while [ ! -e /tmp/agent/go ]; do sleep 0.2; done; echo through; exit 4';
  const { id, pod } = await running(scene, script);

  await scene.node.setCable('out');
  await until('the server misses the agent', async () => (await scene.session(id)).phase !== 'running');
  await scene.node.setCable('in');
  await until('it is back', async () => (await scene.session(id)).phase === 'running');
  await scene.node.cluster.kubectl('exec', pod, '--', 'touch', '/tmp/agent/go');
  const end = await until('it ends', async () => (await scene.session(id)).end);
  const starts = await scene.node.cluster.kubectl('exec', pod, '--', 'cat', '/tmp/agent/cable');
  const logs = await scene.muster('session', 'logs', id);

  expect(end).toMatchObject({ how: 'exited', exit_code: 4 });
  expect(starts).toBe('start\n');
  expect(logs.out).toBe('through\n');
});

test('a node that dies: its session is unknown until the node is deleted, then lost, and no pod is left', async (context) => {
  const scene = needed(context, part);
  const { id, pod } = await running(scene, 'sleep 1000');

  await scene.node.kill();
  const missed = await until('the server misses the agent', async () => {
    const { phase } = await scene.session(id);
    return phase !== 'running' && phase;
  });
  await scene.node.cluster.kubectl('delete', 'node', scene.node.name);
  const end = await until('it ends', async () => (await scene.session(id)).end);
  await until('its pod is gone', async () =>
    (await scene.node.cluster.tryKubectl('get', 'pod', pod)).err.includes('NotFound'),
  );

  process.stdout.write(`node death: the session was ${missed}, then ended as ${JSON.stringify(end)}\n`);
  expect(end.how).not.toBe('exited');
});

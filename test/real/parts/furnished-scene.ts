// A dashboard scene with something to show on every page: sessions, a computer, runtimes, builds of images, GPU nodes.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { until } from '#core/testing/until.ts';
import type { Computer } from '../../../src/api/wire/computer.ts';
import type { ImageBuildIn } from '../../../src/api/wire/image.ts';
import type { NodePoolDetail } from '../../../src/api/wire/node.ts';
import type { Source } from '../../../src/api/wire/source.ts';
import type { Api } from '../../system/harness/api.ts';
import { runCli } from '../../system/harness/cli.ts';
import { openSimulatedKubectl, simulateCloud } from '../../system/harness/simulated-cluster.ts';
import { ROOT, type World } from '../../system/harness/world.ts';
import { type DashboardScene, openDashboardScene, type SceneAddition } from './dashboard-scene.ts';

const NODES = join(ROOT, 'deploy/kubernetes/examples/simulated-nodes');

const runtimes = {
  default: 'fixed',
  provisioners: { fixed: { type: 'static', spec: { runtimes: [{ host: 'http://h0:9091', slots: 4 }] } } },
};

/** A simulated cluster with pods that want GPUs, and templates and hosts of this machine. */
async function addition(world: World): Promise<SceneAddition> {
  const { KUBECONFIG = '' } = await simulateCloud(world, 'kubernetes');
  const env = await simulateCloud(world, 'gcp', '--kubeconfig', KUBECONFIG);
  const kubectl = openSimulatedKubectl(KUBECONFIG);
  await kubectl.apply((await runCli(world, ['kube', 'crd', '--nodes'])).out);
  for (const name of ['h100.yaml', 'train.yaml']) await kubectl.apply(readFileSync(join(NODES, name), 'utf8'));
  const templates = { here: { backend: { process: { env: world.mark } } } };
  return {
    env,
    config: { runtimes, computers: { templates }, nodes: { accounts: [{ gce: { project: 'my-project' } }] } },
  };
}

/** As `muster image build` records it. */
function buildsOfAnImage(): readonly ImageBuildIn[] {
  const [from, to] = [systemClock.now() - 90_000, systemClock.now()].map((ms) => new Date(ms).toISOString());
  const [started_at = '', ended_at = ''] = [from, to];
  const ran = { builder: 'aws-ami', cloud: 'aws:us-west-2', host: 'laptop', version: '1.0.0', started_at, ended_at };
  const reference = 'muster-agent-1.0.0-3f9c2a71';
  const image = { name: 'muster-agent', reference, ids: { 'us-west-2': 'ami-0a1b2c3d4e5f60718' }, built_at: ended_at };
  const log = 'Launching a builder.\nInstalling the agent.\nCreating the image.\n';
  return [
    { ...ran, recipe: '3f9c2a71', outcome: 'built', image, log },
    { ...ran, outcome: 'failed', error: 'The builder did not answer within 10 minutes.', log: log.slice(0, 21) },
  ];
}

async function furnish(world: World, api: Api): Promise<void> {
  const prints = 'echo hello; echo trouble >&2; printf "\\033[31mred\\033[0m\\n"; seq 60';
  await runCli(world, ['run', '--pool', 'local', '--name', 'greeting', '--', 'sh', '-c', prints]);
  await runCli(world, ['run', '-d', '--pool', 'local', '--name', 'long', '--', 'sleep', '600']);
  await runCli(world, ['run', '-d', '--pool', 'gpu-pool', '--name', 'training', '--', 'sleep', '600']);
  await api.post('/computers', { name: 'dev', template: 'here', ttl: '8h' });
  for (const id of ['deployment-1', 'deployment-2']) await api.post('/runtimes', { id, slots: 1 });
  for (const build of buildsOfAnImage()) await api.post('/image-builds', build);
}

export async function openFurnishedScene(context: TestContext): Promise<DashboardScene> {
  const scene = await openDashboardScene(context, addition);
  const { world, api } = scene;
  await until('the refused document is read', async () => {
    const { items } = await api.get<{ items: Source[] }>('/sources');
    return items.some(({ faulty_documents: faulty }) => faulty > 0);
  });
  await furnish(world, api);
  await until('a worker is busy', async () => (await api.workers()).some(({ phase }) => phase === 'busy'));
  await until('the computer runs', async () => (await api.get<Computer>('/computers/dev')).status === 'running');
  await until('nodes have come', async () => {
    const { provisioner } = await api.get<NodePoolDetail>('/node-provisioners/h100');
    return provisioner.nodes > 0;
  });
  return scene;
}

// The server in a pod of a real node: its own image, the manifests that users apply, and sessions in other pods.
import { chmodSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { until } from '#core/testing/until.ts';
import { renderChart } from '../../src/providers/kubernetes/install/testing.ts';
import { runCli } from '../system/harness/cli.ts';
import { openWorld } from '../system/harness/world.ts';
import { kubernetesPrograms } from './parts/kubernetes.ts';
import { AGENT_IMAGE, SERVER_IMAGE } from './parts/node-image.ts';
import { nodeParts } from './parts/node-programs.ts';
import { needed } from './parts/part.ts';
import { openRealNode, type RealNode } from './parts/real-node.ts';

const manifest = (name: string): string =>
  readFileSync(join(import.meta.dirname, 'kubernetes', `${name}.yaml`), 'utf8');

/** A node without a storage class: a folder of it for the volume of the server. */
const VOLUME = {
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name: 'server' },
  spec: {
    capacity: { storage: '10Gi' },
    accessModes: ['ReadWriteOnce'],
    hostPath: { path: '/var/lib/muster-data' },
  },
};

/** The pod of `helm test`. This node has neither a service proxy nor names, so it asks the pod of the server. */
function helmTestPod(server: string): string {
  const [pod] = renderChart({ 'image.repository': 'IMAGE' }).filter(({ kind }) => kind === 'Pod');
  return JSON.stringify(pod)
    .replace(/IMAGE:[^"]*/, SERVER_IMAGE)
    .replace('velda-apiserver.velda.svc', server);
}

test('a server in a pod, installed as the guide says, runs a session in a pod of its pool', async (context) => {
  const programs = needed(context, await kubernetesPrograms());
  const parts = needed(context, await nodeParts());
  let node: RealNode | undefined;
  // What is registered first ends last: after the processes of the world.
  context.onTestFinished(() => node?.removeTraces());
  const world = openWorld(context);
  node = await openRealNode(world, programs, parts, { hasServer: true });
  const { cluster } = node;
  const folder = world.path('node/lib/muster-data');
  mkdirSync(folder, { recursive: true });
  // A volume of this kind keeps its owner.
  chmodSync(folder, 0o777);

  const install = await runCli(world, ['kube', 'install', '--dry-run', '--image', SERVER_IMAGE]);
  await cluster.apply(VOLUME, install.out);
  await cluster.kubectl('rollout', 'status', 'deployment/velda-apiserver', '-n', 'velda', '--timeout=200s');
  const address = [
    'get',
    'pods',
    '-n',
    'velda',
    '-l',
    'app=velda-apiserver',
    '-o',
    'jsonpath={.items[0].status.podIP}',
  ];
  const pod = await cluster.kubectl(...address);
  // This node has neither a service proxy nor names.
  const [config = '', pool = ''] = ['velda-config', 'shell'].map((name) =>
    manifest(name)
      .replaceAll('veldaio/agent:latest', AGENT_IMAGE)
      .replaceAll('velda-apiserver.default.svc.cluster.local', pod),
  );
  await cluster.apply(config, pool);
  const status = ['get', 'agentpool', 'shell', '-o', 'jsonpath={.status.ready}'];
  await until('its agent is connected', async () => (await cluster.kubectl(...status)) === '1');
  const inServer = ['exec', '-n', 'velda', 'deploy/velda-apiserver', '--'];
  const ran = await cluster.tryKubectl(
    ...inServer,
    'muster',
    'run',
    '-p',
    'shell',
    '--',
    'sh',
    '-c',
    'echo in; exit 3',
  );
  const user = await cluster.kubectl(...inServer, 'id', '-u');

  await cluster.apply(helmTestPod(pod));
  const tested = ['pod/velda-apiserver-test', '-n', 'velda'];
  await cluster.kubectl('wait', '--for=jsonpath={.status.phase}=Succeeded', ...tested, '--timeout=200s');

  expect(await cluster.kubectl('logs', ...tested)).toContain('The server is ready at');
  expect(await cluster.kubectl('-n', 'velda', 'logs', 'deployment/velda-apiserver')).toContain('provisioner');
  expect(ran).toMatchObject({ code: 3, out: 'in\n' });
  expect(user).toBe('1000\n');
  await cluster.kubectl('delete', 'agentpool', 'shell', '--timeout=200s');
});

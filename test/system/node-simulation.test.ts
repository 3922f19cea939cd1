// The section of the guide to nodes that needs neither a cluster nor an account, from `muster sim cloud` to the nodes that go.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { until } from '#core/testing/until.ts';
import type { NodePoolDetail } from '../../src/api/wire/node.ts';
import { runCli } from './harness/cli.ts';
import { placeServer, startServer } from './harness/server.ts';
import { openSimulatedKubectl, simulateCloud } from './harness/simulated-cluster.ts';
import { openWorld, ROOT } from './harness/world.ts';

const EXAMPLE = join(ROOT, 'deploy/kubernetes/examples/simulated-nodes');
test('pods of a simulated cluster get nodes from a simulated Google Cloud, which go when the pods have gone', async (context) => {
  const world = openWorld(context);
  const { KUBECONFIG = '' } = await simulateCloud(world, 'kubernetes');
  const variables = await simulateCloud(world, 'gcp', '--kubeconfig', KUBECONFIG);
  const kubectl = openSimulatedKubectl(KUBECONFIG);
  await kubectl.apply((await runCli(world, ['kube', 'crd', '--nodes'])).out);
  const place = await placeServer(world, { nodes: { accounts: [{ gce: { project: 'my-project' } }] } });
  await startServer(world, place, variables).ready();
  const show = async () => {
    const { out } = await runCli(world, ['node', 'show', 'h100', '-o', 'json']);
    return JSON.parse(out) as NodePoolDetail;
  };

  // Sooner than a reader could look.
  for (const name of ['h100.yaml', 'train.yaml'])
    await kubectl.apply(readFileSync(join(EXAMPLE, name), 'utf8').replace('scaleDownDelay: 20', 'scaleDownDelay: 1'));
  await until('three pods run', async () => {
    const pods = await kubectl.pods();
    return pods.length === 3 && pods.every(({ status }) => status.phase === 'Running');
  });
  const nodes = (await kubectl.pods()).map(({ spec }) => spec.nodeName ?? '').toSorted();
  const grown = await until('an idle node is kept', async () => {
    const { provisioner } = await show();
    return provisioner.nodes === 4 && provisioner;
  });
  const why = await runCli(world, ['node', 'why', 'h100']);
  await kubectl.deleteDeployment('train');
  const shrunk = await until('the other nodes have gone', async () => {
    const { provisioner } = await show();
    return provisioner.nodes === 1 && provisioner;
  });

  expect(variables.KUBECONFIG).toBe(KUBECONFIG);
  expect(nodes.filter((name) => name.startsWith('h100-a-')).length).toBeLessThanOrEqual(1);
  expect(nodes.filter((name) => name.startsWith('h100-b-')).length).toBeGreaterThanOrEqual(2);
  expect(grown).toMatchObject({ target: 4, gpus: 32, idle_nodes: 1 });
  expect(why.out).toContain('grow h100-b by 3');
  expect(why.out).toContain('ZONE_RESOURCE_POOL_EXHAUSTED');
  expect(shrunk).toMatchObject({ target: 1, idle_nodes: 1, pending_pods: 0 });
});

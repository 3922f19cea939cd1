// The section of the guide to nodes that needs neither a cluster nor an account, from its commands to the nodes that go.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { until } from '#core/testing/until.ts';
import type { NodePoolDetail } from '../../src/api/wire/node.ts';
import { type RunningCli, runCli, startCli } from './harness/cli.ts';
import { placeServer, startServer } from './harness/server.ts';
import { openWorld, ROOT, type World } from './harness/world.ts';

const EXAMPLE = join(ROOT, 'deploy/kubernetes/examples/simulated-nodes');
const PATHS: Readonly<Record<string, string>> = {
  CustomResourceDefinition: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
  NodeProvisioner: '/apis/compute.baseten.co/v1alpha1/nodeprovisioners',
  Deployment: '/apis/apps/v1/namespaces/default/deployments',
};

interface Pod {
  readonly spec: { readonly nodeName?: string };
  readonly status: { readonly phase: string };
}

/** Starts `muster sim cloud …`; resolves with the variables that it prints. */
async function simulate(world: World, ...words: readonly string[]): Promise<Record<string, string>> {
  const running: RunningCli = startCli(world, ['sim', 'cloud', ...words]);
  await until(`the simulated ${words[0]} runs`, () => running.out().includes('Ctrl-C'));
  return Object.fromEntries(
    [...running.out().matchAll(/^ {2}export (\w+)='?([^'\n]+)'?$/gm)].map((one) => one.slice(1)),
  );
}

/** As kubectl does it: `kubectl apply`, `kubectl get` and `kubectl delete`. */
function openKubectl(server: string) {
  const ask = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const headers = { 'content-type': 'application/json' };
    const sent = body ? { body: JSON.stringify(body) } : {};
    const reply = await fetch(`${server}${path}`, { method, headers, ...sent });
    const answer = await reply.text();
    if (!reply.ok) throw new Error(`${method} ${path}: ${answer}`);
    return JSON.parse(answer) as T;
  };
  const list = async <T>(path: string): Promise<readonly T[]> =>
    (await ask<{ items: readonly T[] }>('GET', path)).items;
  return {
    async apply(text: string): Promise<void> {
      const object = parse(text) as { readonly kind: string };
      await ask('POST', PATHS[object.kind] ?? '', object);
    },
    pods: () => list<Pod>('/api/v1/namespaces/default/pods'),
    deleteDeployment: (name: string) => ask('DELETE', `${PATHS.Deployment}/${name}`),
  };
}

test('pods of a simulated cluster get nodes from a simulated Google Cloud, which go when the pods have gone', async (context) => {
  const world = openWorld(context);
  const { KUBECONFIG = '' } = await simulate(world, 'kubernetes');
  const variables = await simulate(world, 'gcp', '--kubeconfig', KUBECONFIG);
  const server = /server: (\S+)/.exec(readFileSync(KUBECONFIG, 'utf8'))?.[1] ?? '';
  const kubectl = openKubectl(server);
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

// A simulated cluster, and a simulated Google Cloud whose machines become its nodes.
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { until } from '#core/testing/until.ts';
import { type RunningCli, startCli } from './cli.ts';
import type { World } from './world.ts';

const PATHS: Readonly<Record<string, string>> = {
  CustomResourceDefinition: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
  NodeProvisioner: '/apis/compute.baseten.co/v1alpha1/nodeprovisioners',
  Deployment: '/apis/apps/v1/namespaces/default/deployments',
};

interface SimulatedPod {
  readonly spec: { readonly nodeName?: string };
  readonly status: { readonly phase: string };
}

/** Starts `muster sim cloud …`; resolves with the variables that it prints. */
export async function simulateCloud(world: World, ...words: readonly string[]): Promise<Record<string, string>> {
  const running: RunningCli = startCli(world, ['sim', 'cloud', ...words]);
  await until(`the simulated ${words[0]} runs`, () => running.out().includes('Ctrl-C'));
  return Object.fromEntries(
    [...running.out().matchAll(/^ {2}export (\w+)='?([^'\n]+)'?$/gm)].map((one) => one.slice(1)),
  );
}

/** As kubectl does it: `kubectl apply`, `kubectl get` and `kubectl delete`. */
export function openSimulatedKubectl(kubeconfig: string) {
  const server = /server: (\S+)/.exec(readFileSync(kubeconfig, 'utf8'))?.[1] ?? '';
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
    pods: () => list<SimulatedPod>('/api/v1/namespaces/default/pods'),
    deleteDeployment: (name: string) => ask('DELETE', `${PATHS.Deployment}/${name}`),
  };
}

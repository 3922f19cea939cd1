// Node pools of the simulated Crusoe, whose VMs are nodes of a real control plane, with the real scheduler.
import { expect, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { until } from '#core/testing/until.ts';
import { isLiving } from '../../src/providers/crusoe/fake/pool.ts';
import { openWorld } from '../system/harness/world.ts';
import { POOL_LABEL } from './parts/joined-nodes.ts';
import { kubernetesPrograms } from './parts/kubernetes.ts';
import { GPUS_A_NODE, gpuPod, openCrusoeNodesScene, provisionerOf } from './parts/nodes-scene.ts';
import { needed } from './parts/part.ts';

const PODS = 24;
const GPUS = 2;
const PODS_PATH = '/api/v1/namespaces/default/pods';

interface Pod {
  readonly spec: { readonly nodeName?: string };
}

test('a node pool of Crusoe grows for pods that wait, and its VMs go when the pods have gone', async (context) => {
  const programs = needed(context, await kubernetesPrograms());
  const world = openWorld(context);
  const onEnd = (end: () => Promise<void>): void => context.onTestFinished(end);
  const { api, cluster, group } = await openCrusoeNodesScene(world, programs, { pool: 'h100', onEnd });
  await cluster.apply(provisionerOf('h100', { minUnutilizedGPUNodes: 0, scaleDownDelay: 5 }));
  const living = (): number => group.vms.filter((vm) => isLiving(vm, systemClock.now())).length;
  const names = Array.from({ length: PODS }, (_, at) => `pod-${at}`);
  const pod = (name: string): object => gpuPod({ name, gpus: GPUS, on: { [POOL_LABEL]: 'h100' } });

  await Promise.all(names.map((name) => api.ask('POST', PODS_PATH, pod(name))));
  await until('all pods are bound', async () => {
    const { items } = await api.ask<{ items: Pod[] }>('GET', PODS_PATH);
    return items.every(({ spec }) => spec.nodeName !== undefined);
  });

  expect([living(), group.count]).toEqual([(PODS * GPUS) / GPUS_A_NODE, (PODS * GPUS) / GPUS_A_NODE]);
  await Promise.all(names.map((name) => api.call('DELETE', `${PODS_PATH}/${name}`)));
  await until('the pool has no machines', () => living() === 0 && group.count === 0);
  await until('no node is left', async () => {
    const { items } = await api.ask<{ items: object[] }>('GET', `/api/v1/nodes?labelSelector=${POOL_LABEL}=h100`);
    return items.length === 0;
  });
});

// The scheduler that everybody runs places the pods, and spreads them: it never asks Muster where it counted on them.
import { expect, test } from 'vitest';
import { seededRandom } from '#core/random.ts';
import { until } from '#core/testing/until.ts';
import type { NodePoolDetail } from '../../src/api/wire/node.ts';
import { openWorld } from '../system/harness/world.ts';
import { POOL_LABEL } from './parts/joined-nodes.ts';
import { kubernetesPrograms } from './parts/kubernetes.ts';
import { GPUS_A_NODE, gpuPod, openNodesScene, provisionerOf } from './parts/nodes-scene.ts';
import { needed } from './parts/part.ts';

const PODS = 2_000;
const PODS_PATH = '/api/v1/namespaces/default/pods';
const AT_ONCE = 50;
const SIZES = [1, 1, 1, 1, 2, 2, 4, 8];

interface Pod {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly nodeName?: string };
}

test(`with the real scheduler ${PODS} random pods are all bound, and no node that was grown stays unused`, async (context) => {
  const programs = needed(context, await kubernetesPrograms());
  const world = openWorld(context);
  const onEnd = (end: () => Promise<void>): void => context.onTestFinished(end);
  const { api, cluster, group, muster } = await openNodesScene(world, programs, { pool: 'h100', onEnd });
  await cluster.apply(provisionerOf('h100'));
  const random = seededRandom(20_261_118);
  const sizes = Array.from({ length: PODS }, () => SIZES[Math.floor(random.next() * SIZES.length)] ?? 1);

  const boundTo = new Map<string, string>();
  api.watch(PODS_PATH, (_type, { metadata, spec }: Pod) => {
    if (spec.nodeName !== undefined) boundTo.set(metadata.name, spec.nodeName);
  });
  for (let first = 0; first < PODS; first += AT_ONCE) {
    await Promise.all(
      sizes.slice(first, first + AT_ONCE).map((gpus, at) => {
        const pod = gpuPod({ name: `pod-${first + at}`, gpus, on: { [POOL_LABEL]: 'h100' } });
        return api.ask('POST', PODS_PATH, pod);
      }),
    );
  }
  for (let tenth = 1; tenth <= 10; tenth++)
    await until(`${tenth} tenths of all pods are bound`, () => boundTo.size * 10 >= PODS * tenth);
  const settled = await until('nothing is asked for any more', async () => {
    const { out } = await muster('node', 'show', 'h100', '-o', 'json');
    const {
      nodes,
      target,
      starting_nodes: starting,
      pending_pods: pending,
    } = (JSON.parse(out) as NodePoolDetail).provisioner;
    return nodes === target && starting === 0 && pending === 0 && { nodes };
  });

  const used = new Set(boundTo.values());
  const grown = group.managed.map(({ name }) => name);
  const gpus = sizes.reduce((sum, size) => sum + size, 0);
  process.stdout.write(
    `${PODS} pods with ${gpus} GPUs on ${grown.length} nodes; at least ${Math.ceil(gpus / GPUS_A_NODE)} are needed\n`,
  );
  expect(settled.nodes).toBe(grown.length);
  expect(grown.filter((name) => !used.has(name))).toEqual([]);
});

// What a new node of a pool will be, from its VM type and the settings of the pool.
import { HOUR_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { NodeTemplate } from '#core/node-group.ts';
import type { NodePool, VmType } from '../api.ts';
import type { Crusoe } from '../client.ts';

const GIB = 2 ** 30;
// Those of the kubelet where nobody says otherwise: 110 pods, and evictions below 100 MiB.
const PODS = 110;
const EVICTION_BYTES = 100 * 2 ** 20;

/** Cards of AMD come with as many virtual network cards. */
function gpusOf({ num_gpu: count, gpu_type: type = '', product_name: name }: VmType): Readonly<Record<string, number>> {
  if (count === 0) return {};
  const isAmd = /^mi\d|amd/i.test(type) || /^mi\d/i.test(name);
  return isAmd ? { 'amd.com/gpu': count, 'amd.com/vnics': count } : { 'nvidia.com/gpu': count };
}

export async function nodeTemplateOf(crusoe: Crusoe, pool: NodePool, signal: AbortSignal): Promise<NodeTemplate> {
  const path = '/compute/vms/types';
  const types = await crusoe.keep(path, HOUR_MS, () => crusoe.all<VmType>({ path }, signal));
  const type = types.find(({ product_name: name }) => name === pool.type);
  if (!type) throw new Fault('invalid', `Crusoe lists no VM type ${pool.type}, which the node pool ${pool.name} has.`);
  return {
    allocatable: {
      cpu: type.cpu_cores * 1_000,
      memory: type.memory_gb * GIB - EVICTION_BYTES,
      pods: PODS,
      ...gpusOf(type),
    },
    labels: {
      'kubernetes.io/arch': 'amd64',
      'kubernetes.io/os': 'linux',
      'node.kubernetes.io/instance-type': pool.type,
      ...pool.node_labels,
    },
    taints: (pool.node_taints ?? []).map(({ key, value, effect }) => ({ key, ...(value && { value }), effect })),
  };
}

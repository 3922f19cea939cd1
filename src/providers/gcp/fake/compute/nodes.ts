// Instances that would start a kubelet, as nodes of a cluster.
import type { SimulatedNode } from '#core/simulation.ts';
import { type FakeInstance, statusAt } from './instance.ts';
import { GPU_TYPES, MACHINE_TYPES, memoryMbOf, regionOf } from './seed-data.ts';
import type { ComputeState } from './state.ts';

/** `a=b,c=d`, as kubelets take labels. */
const labelsIn = (list = ''): Record<string, string> =>
  Object.fromEntries(list.split(',').flatMap((pair) => (pair.includes('=') ? [pair.split('=', 2)] : [])));

/** What the start-up script of the node would read: from GKE, or from a group that Muster made. */
function nodeLabels({ metadata }: FakeInstance): Record<string, string> | undefined {
  const ofGke = /\bnode_labels=([^;\s]*)/.exec(metadata['kube-env'] ?? '')?.[1];
  const ofMuster = metadata['muster-node-labels'];
  if (ofGke === undefined && ofMuster === undefined) return undefined;
  return { ...labelsIn(ofGke), ...labelsIn(ofMuster) };
}

function asNode(instance: FakeInstance): readonly SimulatedNode[] {
  const { project, zone, name, machineType } = instance;
  const labels = nodeLabels(instance);
  if (!labels) return [];
  const [, gpus = 0] = GPU_TYPES.get(machineType) ?? [];
  return [
    {
      name,
      providerId: `gce://${project}/${zone}/${name}`,
      labels: {
        'node.kubernetes.io/instance-type': machineType,
        'topology.kubernetes.io/zone': zone,
        'topology.kubernetes.io/region': regionOf(zone),
        ...labels,
      },
      allocatable: {
        cpu: String(MACHINE_TYPES.get(machineType) ?? 1),
        memory: `${memoryMbOf(machineType)}Mi`,
        ...(gpus > 0 && { 'nvidia.com/gpu': String(gpus) }),
      },
    },
  ];
}

/** Those that run now. */
export const runningNodes = ({ instances, clock }: ComputeState): readonly SimulatedNode[] =>
  instances.filter((one) => statusAt(one, clock.now()) === 'RUNNING').flatMap(asNode);

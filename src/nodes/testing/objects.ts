// Objects of a cluster, as tests of nodes write them.
import type { KubeObject } from '#kube/object.ts';
import { type PodClass, podClassOf } from '../simulation/pod-class.ts';
import { openPodRoom, type PodRoom, type RoomKind } from '../simulation/room.ts';

export const GPU = 'nvidia.com/gpu';
export const HOSTNAME = 'kubernetes.io/hostname';
export const ZONE = 'topology.kubernetes.io/zone';

export interface PodDraft {
  readonly gpus?: number;
  readonly cpu?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly namespace?: string;
  readonly spec?: Readonly<Record<string, unknown>>;
}

/** A pod with one container. */
export function podObject(
  name: string,
  { gpus = 0, cpu = '1', labels = {}, namespace = 'ml', spec = {} }: PodDraft,
): KubeObject {
  const amounts = { cpu, memory: '1Gi', ...(gpus > 0 && { [GPU]: String(gpus) }) };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, labels },
    spec: { containers: [{ name: 'main', resources: { requests: amounts, limits: amounts } }], ...spec },
  };
}

const CLASSES = new Map<string, PodClass>();

export const classOf = (draft: PodDraft): PodClass => podClassOf(podObject('any', draft), CLASSES);

export const ROOMY = { cpu: 64_000, memory: 512 * 2 ** 30, pods: 110, [GPU]: 8 };

export function roomOf(
  name: string,
  { kind = 'ready', ...more }: Partial<PodRoom> & { kind?: RoomKind } = {},
): PodRoom {
  const { labels = {}, taints = [], free = ROOMY } = more;
  return openPodRoom({ name, kind, labels: { [HOSTNAME]: name, ...labels }, taints, allocatable: free });
}

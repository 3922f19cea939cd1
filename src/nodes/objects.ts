// How NodeProvisioners and their nodes are named in a cluster.
import type { KubeResource } from '#kube/resource.ts';

export const NODE_POOLS: KubeResource = {
  group: 'compute.baseten.co',
  version: 'v1alpha1',
  plural: 'nodeprovisioners',
  kind: 'NodeProvisioner',
  isNamespaced: false,
};

const PREFIX = 'nodeprovisioner.compute.baseten.co';

/** Label of a node: the name of its provisioner. */
export const POOL_LABEL = `${PREFIX}/provisioner-name`;
/** Taint of a node that goes; its value is the Unix time, in seconds, from which it may be deleted. */
export const DELETION_TAINT = `${PREFIX}/scheduled-deletion`;
/** Taint of an idle node while others are emptied: a scheduler that spreads pods would fill it first. */
export const KEPT_IDLE_TAINT = `${PREFIX}/kept-idle`;
/** Annotation of a node that goes: why. */
export const DELETION_REASON = `${PREFIX}/deletion-reason`;
/** Annotation of a node that we have cordoned. */
export const CORDONED = `${PREFIX}/cordoned`;
/** Annotation of a NodeProvisioner: the id of the Muster that serves it. */
export const SERVED_BY = `${PREFIX}/served-by`;

/** When a machine ends by itself, as GKE writes it on its node. */
export const TERMINATION_TIME = 'node.gke.io/machine-termination-datetime';

/** Resources that are GPUs, as clusters name them. */
export const GPU_RESOURCES = [
  'nvidia.com/gpu',
  'amd.com/gpu',
  'habana.ai/gaudi',
  'gpu.intel.com/xe',
  'microsoft.com/directx',
] as const;

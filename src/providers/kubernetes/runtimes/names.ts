// Names, labels and kinds of the objects of a runtime.
import { DEPLOYMENTS, type KubeResource, SERVICES } from '#kube/resource.ts';
import { selectorOf } from '#kube/selector.ts';
import type { TemplateName } from './config.ts';

export const CLAIMS: KubeResource = {
  group: '',
  version: 'v1',
  plural: 'persistentvolumeclaims',
  kind: 'PersistentVolumeClaim',
  isNamespaced: true,
};
export const STATEFUL_SETS: KubeResource = {
  group: 'apps',
  version: 'v1',
  plural: 'statefulsets',
  kind: 'StatefulSet',
  isNamespaced: true,
};
export const INGRESSES: KubeResource = {
  group: 'networking.k8s.io',
  version: 'v1',
  plural: 'ingresses',
  kind: 'Ingress',
  isNamespaced: true,
};

export const RESOURCES: Readonly<Record<TemplateName, KubeResource>> = {
  pvc: CLAIMS,
  statefulset: STATEFUL_SETS,
  deployment: DEPLOYMENTS,
  service: SERVICES,
  httpIngress: INGRESSES,
  grpcIngress: INGRESSES,
};

/** Every resource that a runtime may have objects of, in the order in which they are removed: claims last. */
export const REMOVED: readonly KubeResource[] = [INGRESSES, SERVICES, STATEFUL_SETS, DEPLOYMENTS, CLAIMS];

/** What nothing runs in: it can be deleted and made anew. */
export const REMADE: readonly KubeResource[] = [SERVICES, INGRESSES];

/** By template, as templates name them too. */
export const objectNames = (id: string): Readonly<Record<TemplateName, string>> => ({
  httpIngress: `http-runtime-${id}`,
  grpcIngress: `grpc-runtime-${id}`,
  service: `runtime-${id}`,
  statefulset: `runtime-${id}`,
  deployment: `runtime-${id}`,
  pvc: `runtime-${id}`,
});

const CLUSTER = 'muster.io/cluster';
const RUNTIME = 'muster.io/runtime';

export const DIGEST = 'muster.io/digest';

export const labelsOfRuntime = (cluster: string, id: string): Readonly<Record<string, string>> => ({
  'app.kubernetes.io/managed-by': 'muster',
  'app.kubernetes.io/instance': id,
  [CLUSTER]: cluster,
  [RUNTIME]: id,
});

export const selectorOfRuntime = (cluster: string, id: string | true): string =>
  selectorOf({ [CLUSTER]: cluster, [RUNTIME]: id });

export const runtimeOfLabels = (labels: Readonly<Record<string, string>> = {}): string | undefined => labels[RUNTIME];

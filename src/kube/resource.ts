import { Fault } from '#core/fault.ts';
import type { ObjectName } from './object.ts';

/** One kind of objects and where the API server keeps them. */
export interface KubeResource {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  /** As in paths and RBAC rules: `pods`. */
  readonly plural: string;
  readonly kind: string;
  readonly isNamespaced: boolean;
  /** Answers hold the metadata of its objects alone: what a Secret holds does not even reach us. */
  readonly isMetadataOnly?: true;
}

export const PODS: KubeResource = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', isNamespaced: true };
export const SERVICES: KubeResource = {
  group: '',
  version: 'v1',
  plural: 'services',
  kind: 'Service',
  isNamespaced: true,
};
export const SECRETS: KubeResource = {
  group: '',
  version: 'v1',
  plural: 'secrets',
  kind: 'Secret',
  isNamespaced: true,
  isMetadataOnly: true,
};
export const EVENTS: KubeResource = { group: '', version: 'v1', plural: 'events', kind: 'Event', isNamespaced: true };
export const DEPLOYMENTS: KubeResource = {
  group: 'apps',
  version: 'v1',
  plural: 'deployments',
  kind: 'Deployment',
  isNamespaced: true,
};
export const NAMESPACES: KubeResource = {
  group: '',
  version: 'v1',
  plural: 'namespaces',
  kind: 'Namespace',
  isNamespaced: false,
};
export const NODES: KubeResource = { group: '', version: 'v1', plural: 'nodes', kind: 'Node', isNamespaced: false };
export const POD_DISRUPTION_BUDGETS: KubeResource = {
  group: 'policy',
  version: 'v1',
  plural: 'poddisruptionbudgets',
  kind: 'PodDisruptionBudget',
  isNamespaced: true,
};
export const CUSTOM_RESOURCES: KubeResource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  isNamespaced: false,
};

/** As objects write it: `v1`, `velda.io/v1`. */
export const apiVersionOf = ({ group, version }: KubeResource): string =>
  group === '' ? version : `${group}/${version}`;

/** As kubectl and RBAC messages write it: `pods`, `agentpools.velda.io`. */
export const qualifiedName = ({ group, plural }: KubeResource): string =>
  group === '' ? plural : `${plural}.${group}`;

/** The path of all objects of a namespace; of all namespaces where none is given. */
export function collectionPath(resource: KubeResource, namespace?: string): string {
  const root = resource.group === '' ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`;
  const within = resource.isNamespaced && namespace ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  return `${root}${within}/${resource.plural}`;
}

/** The path of one object, or of one of its subresources: `status`, `log`. */
export function objectPath(resource: KubeResource, { namespace, name }: ObjectName, subresource?: string): string {
  // Without a name the path would mean the whole collection, which a DELETE would empty.
  if (name === '') throw new Fault('internal', `An object of ${qualifiedName(resource)} has no name.`);
  if (resource.isNamespaced && !namespace)
    throw new Fault('internal', `${name} of ${qualifiedName(resource)} has no namespace.`);
  const path = `${collectionPath(resource, namespace)}/${encodeURIComponent(name)}`;
  return subresource === undefined ? path : `${path}/${subresource}`;
}

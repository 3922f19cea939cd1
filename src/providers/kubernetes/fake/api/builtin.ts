// The resources that every cluster serves, as far as they are simulated.

import { fieldsOf, type KubeObject, textOf } from '../objects/object.ts';
import { checkPod } from '../pods/check.ts';
import { preparePod } from '../pods/defaults.ts';
import {
  AGE,
  CONFIG_MAP_COLUMNS,
  CRD_COLUMNS,
  EVENT_COLUMNS,
  NAME,
  NAMESPACE_COLUMNS,
  NODE_COLUMNS,
} from './columns.ts';
import { eventConversion } from './event-versions.ts';
import { POD_COLUMNS } from './pod-columns.ts';
import type { ListRule, Resource } from './resource.ts';
import { prepareService } from './service-addresses.ts';
import { checkServicePorts, servicePortRule } from './service-ports.ts';
import { checkDeployment, checkStatefulSet } from './workload-rules.ts';

// The merge keys of the core types, by the name of the list.
const KEYS: Readonly<Record<string, ListRule>> = {
  containers: { keys: ['name'] },
  initContainers: { keys: ['name'] },
  ephemeralContainers: { keys: ['name'] },
  volumes: { keys: ['name'] },
  env: { keys: ['name'] },
  volumeMounts: { keys: ['mountPath'] },
  ports: { keys: ['containerPort'] },
  imagePullSecrets: { keys: ['name'] },
  hostAliases: { keys: ['ip'] },
  conditions: { keys: ['type'] },
  ownerReferences: { keys: ['uid'] },
  podIPs: { keys: ['ip'] },
  finalizers: 'set',
};

export const coreListRule = (path: readonly string[]): ListRule => KEYS[path.at(-1) ?? ''];

type Draft = Pick<Resource, 'group' | 'version' | 'plural' | 'kind'> & Partial<Resource>;

const builtin = (draft: Draft): Resource => ({
  singular: draft.kind.toLowerCase(),
  listKind: `${draft.kind}List`,
  shortNames: [],
  categories: [],
  isNamespaced: true,
  hasStatus: false,
  countsGenerations: false,
  isCustom: false,
  columns: [NAME, AGE],
  selectable: [],
  listRule: coreListRule,
  ...draft,
});

const core = (plural: string, kind: string, more: Partial<Resource> = {}): Resource =>
  builtin({ group: '', version: 'v1', plural, kind, ...more });

const of = (group: string, plural: string, kind: string, more: Partial<Resource> = {}): Resource =>
  builtin({ group, version: 'v1', plural, kind, ...more });

const INVOLVED = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'];

const RBAC = 'rbac.authorization.k8s.io';

function prepareNamespace(draft: KubeObject): KubeObject {
  const { metadata, spec, status } = draft;
  return {
    ...draft,
    metadata: { ...metadata, labels: { 'kubernetes.io/metadata.name': metadata.name, ...metadata.labels } },
    spec: { finalizers: ['kubernetes'], ...spec },
    status: { phase: 'Active', ...status },
  };
}

/** `stringData` is only a way to write: what is kept is base64. */
function prepareSecret(draft: KubeObject): KubeObject {
  const { stringData, ...rest } = draft;
  const written = Object.entries(fieldsOf(stringData)).map(([key, text]) => [
    key,
    Buffer.from(textOf(text)).toString('base64'),
  ]);
  const data = { ...fieldsOf(draft.data), ...Object.fromEntries(written) };
  return { ...rest, ...(Object.keys(data).length > 0 ? { data } : {}), type: draft.type ?? 'Opaque' };
}

/** Objects of workloads, and what is kept and served though no controller acts on it here. */
const INERT: readonly Resource[] = [
  core('services', 'Service', {
    shortNames: ['svc'],
    categories: ['all'],
    hasStatus: true,
    prepare: prepareService,
    listRule: (path) => servicePortRule(path) ?? coreListRule(path),
    check: checkServicePorts,
  }),
  core('persistentvolumeclaims', 'PersistentVolumeClaim', { shortNames: ['pvc'], hasStatus: true }),
  of('apps', 'deployments', 'Deployment', {
    shortNames: ['deploy'],
    categories: ['all'],
    hasStatus: true,
    countsGenerations: true,
    check: checkDeployment,
  }),
  of('apps', 'statefulsets', 'StatefulSet', {
    shortNames: ['sts'],
    categories: ['all'],
    hasStatus: true,
    countsGenerations: true,
    check: checkStatefulSet,
  }),
  of('batch', 'jobs', 'Job', { categories: ['all'], hasStatus: true, countsGenerations: true }),
  of('policy', 'poddisruptionbudgets', 'PodDisruptionBudget', {
    shortNames: ['pdb'],
    hasStatus: true,
    countsGenerations: true,
  }),
  of('networking.k8s.io', 'ingresses', 'Ingress', { shortNames: ['ing'], hasStatus: true, countsGenerations: true }),
  of('networking.k8s.io', 'networkpolicies', 'NetworkPolicy', { shortNames: ['netpol'], countsGenerations: true }),
];

export const BUILTIN: readonly Resource[] = [
  core('namespaces', 'Namespace', {
    shortNames: ['ns'],
    isNamespaced: false,
    hasStatus: true,
    columns: NAMESPACE_COLUMNS,
    selectable: [['status', 'phase']],
    prepare: prepareNamespace,
  }),
  core('nodes', 'Node', {
    shortNames: ['no'],
    isNamespaced: false,
    hasStatus: true,
    takesStatus: true,
    columns: NODE_COLUMNS,
  }),
  core('pods', 'Pod', {
    shortNames: ['po'],
    categories: ['all'],
    hasStatus: true,
    countsGenerations: true,
    columns: POD_COLUMNS,
    selectable: [
      ['status', 'phase'],
      ['status', 'podIP'],
      ['spec', 'nodeName'],
      ['spec', 'restartPolicy'],
      ['spec', 'serviceAccountName'],
    ],
    prepare: preparePod,
    check: checkPod,
  }),
  core('configmaps', 'ConfigMap', { shortNames: ['cm'], columns: CONFIG_MAP_COLUMNS }),
  core('secrets', 'Secret', { selectable: [['type']], prepare: prepareSecret }),
  core('serviceaccounts', 'ServiceAccount', { shortNames: ['sa'] }),
  core('events', 'Event', {
    shortNames: ['ev'],
    columns: EVENT_COLUMNS,
    selectable: [...INVOLVED.map((field) => ['involvedObject', field]), ['reason'], ['type'], ['source', 'component']],
  }),
  of('events.k8s.io', 'events', 'Event', {
    shortNames: ['ev'],
    columns: EVENT_COLUMNS,
    selectable: [...INVOLVED.map((field) => ['regarding', field]), ['reason'], ['type'], ['reportingController']],
    storage: '/events',
    conversion: eventConversion,
  }),
  of('coordination.k8s.io', 'leases', 'Lease'),
  of('apiextensions.k8s.io', 'customresourcedefinitions', 'CustomResourceDefinition', {
    shortNames: ['crd', 'crds'],
    categories: ['api-extensions'],
    isNamespaced: false,
    hasStatus: true,
    countsGenerations: true,
    columns: CRD_COLUMNS,
  }),
  of(RBAC, 'roles', 'Role'),
  of(RBAC, 'rolebindings', 'RoleBinding'),
  of(RBAC, 'clusterroles', 'ClusterRole', { isNamespaced: false }),
  of(RBAC, 'clusterrolebindings', 'ClusterRoleBinding', { isNamespaced: false }),
  ...INERT,
];

// What is served, for clients that ask before they call: plain and aggregated discovery.
import { compact, type Fields } from '../objects/object.ts';
import { apiVersionOf, type Resource } from './resource.ts';

const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
const STATUS_VERBS = ['get', 'patch', 'update'];

/** A resource that is only asked a question: it keeps nothing. */
export interface Question {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly isNamespaced: boolean;
}

export const QUESTIONS: readonly Question[] = [
  ...['SelfSubjectAccessReview', 'SelfSubjectRulesReview', 'SubjectAccessReview', 'LocalSubjectAccessReview'].map(
    (kind) => ({
      group: 'authorization.k8s.io',
      version: 'v1',
      plural: `${kind.toLowerCase()}s`,
      kind,
      isNamespaced: kind.startsWith('Local'),
    }),
  ),
  {
    group: 'authentication.k8s.io',
    version: 'v1',
    plural: 'selfsubjectreviews',
    kind: 'SelfSubjectReview',
    isNamespaced: false,
  },
];

interface Subresource {
  readonly name: string;
  readonly verbs: readonly string[];
  readonly kind: Fields;
}

function subresourcesOf(resource: Resource): readonly Subresource[] {
  const own = { group: resource.group, version: resource.version, kind: resource.kind };
  const status = resource.hasStatus ? [{ name: 'status', verbs: STATUS_VERBS, kind: own }] : [];
  const core = resource.group === '' ? resource.plural : '';
  if (core === 'pods') {
    const kind = { group: 'policy', version: 'v1', kind: 'Eviction' };
    return [...status, { name: 'eviction', verbs: ['create'], kind }];
  }
  if (core !== 'serviceaccounts') return status;
  return [
    { name: 'token', verbs: ['create'], kind: { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' } },
  ];
}

/** `/api/v1` and `/apis/G/V`. */
export function resourceList(all: readonly Resource[], group: string, version: string): Fields | undefined {
  const resources = all.filter((one) => one.group === group && one.version === version);
  const questions = QUESTIONS.filter((one) => one.group === group && one.version === version);
  if (resources.length === 0 && questions.length === 0) return undefined;
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: group === '' ? version : `${group}/${version}`,
    resources: [
      ...resources.flatMap((resource) => [
        compact({
          name: resource.plural,
          singularName: resource.singular,
          namespaced: resource.isNamespaced,
          kind: resource.kind,
          verbs: VERBS,
          shortNames: resource.shortNames.length > 0 ? resource.shortNames : undefined,
          categories: resource.categories.length > 0 ? resource.categories : undefined,
        }),
        ...subresourcesOf(resource).map(({ name, verbs, kind }) => ({
          name: `${resource.plural}/${name}`,
          singularName: '',
          namespaced: resource.isNamespaced,
          ...kind,
          verbs,
        })),
      ]),
      ...questions.map(({ plural, kind, isNamespaced }) => ({
        name: plural,
        singularName: kind.toLowerCase(),
        namespaced: isNamespaced,
        kind,
        verbs: ['create'],
      })),
    ],
  };
}

/** Versions by group, without the core group. */
export function groupsOf(all: readonly Resource[]): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>();
  for (const { group, version } of [...all, ...QUESTIONS]) {
    const versions = groups.get(group) ?? [];
    groups.set(group, versions.includes(version) ? versions : [...versions, version]);
  }
  groups.delete('');
  return groups;
}

function groupOf(name: string, versions: readonly string[]): Fields {
  const entries = versions.map((version) => ({ groupVersion: `${name}/${version}`, version }));
  return { name, versions: entries, preferredVersion: entries[0] };
}

/** `/apis`. */
export const groupList = (all: readonly Resource[]): Fields => ({
  kind: 'APIGroupList',
  apiVersion: 'v1',
  groups: [...groupsOf(all)].map(([name, versions]) => groupOf(name, versions)),
});

/** `/apis/G`. */
export function groupAnswer(all: readonly Resource[], group: string): Fields | undefined {
  const versions = groupsOf(all).get(group);
  return versions && { kind: 'APIGroup', apiVersion: 'v1', ...groupOf(group, versions) };
}

const aggregatedResource = (resource: Resource): Fields =>
  compact({
    resource: resource.plural,
    responseKind: { group: resource.group, version: resource.version, kind: resource.kind },
    scope: resource.isNamespaced ? 'Namespaced' : 'Cluster',
    singularResource: resource.singular,
    verbs: VERBS,
    shortNames: resource.shortNames.length > 0 ? resource.shortNames : undefined,
    categories: resource.categories.length > 0 ? resource.categories : undefined,
    subresources: subresourcesOf(resource).map(({ name, verbs, kind }) => ({
      subresource: name,
      responseKind: kind,
      verbs,
    })),
  });

const aggregatedQuestion = ({ group, version, plural, kind, isNamespaced }: Question): Fields => ({
  resource: plural,
  responseKind: { group, version, kind },
  scope: isNamespaced ? 'Namespaced' : 'Cluster',
  singularResource: kind.toLowerCase(),
  verbs: ['create'],
});

export const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

/** `/api` and `/apis` in one answer with all resources. */
export function aggregated(all: readonly Resource[], isCore: boolean): Fields {
  const groups = isCore ? new Map([['', ['v1']]]) : groupsOf(all);
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: [...groups].map(([name, versions]) => ({
      metadata: compact({ name: name || undefined, creationTimestamp: null }),
      versions: versions.map((version) => ({
        version,
        freshness: 'Current',
        resources: [
          ...all.filter((one) => apiVersionOf(one) === apiVersionOf({ group: name, version })).map(aggregatedResource),
          ...QUESTIONS.filter((one) => one.group === name && one.version === version).map(aggregatedQuestion),
        ],
      })),
    })),
  };
}

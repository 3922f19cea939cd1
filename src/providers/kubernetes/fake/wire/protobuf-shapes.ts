// The messages of k8s.io/api that kubectl sends for its own commands, as far as those fill them in.

/** By number: the name in JSON, what it holds, and whether it repeats. */
export type Shape = Readonly<
  Record<number, readonly [name: string, kind: 'text' | 'amount' | 'map' | 'base64Map' | Shape, isList?: true]>
>;

const META: Shape = {
  1: ['name', 'text'],
  2: ['generateName', 'text'],
  3: ['namespace', 'text'],
  5: ['uid', 'text'],
  6: ['resourceVersion', 'text'],
  11: ['labels', 'map'],
  12: ['annotations', 'map'],
  14: ['finalizers', 'text', true],
};

const object = (more: Shape = {}): Shape => ({ 1: ['metadata', META], ...more });

const RULE: Shape = {
  1: ['verbs', 'text', true],
  2: ['apiGroups', 'text', true],
  3: ['resources', 'text', true],
  4: ['resourceNames', 'text', true],
  5: ['nonResourceURLs', 'text', true],
};
const SUBJECT: Shape = { 1: ['kind', 'text'], 2: ['apiGroup', 'text'], 3: ['name', 'text'], 4: ['namespace', 'text'] };
const ROLE_REF: Shape = { 1: ['apiGroup', 'text'], 2: ['kind', 'text'], 3: ['name', 'text'] };
const ROLE = object({ 2: ['rules', RULE, true] });
const BINDING = object({ 2: ['subjects', SUBJECT, true], 3: ['roleRef', ROLE_REF] });

const RESOURCE_ATTRIBUTES: Shape = {
  1: ['namespace', 'text'],
  2: ['verb', 'text'],
  3: ['group', 'text'],
  4: ['version', 'text'],
  5: ['resource', 'text'],
  6: ['subresource', 'text'],
  7: ['name', 'text'],
};
const ACCESS: Shape = {
  1: ['resourceAttributes', RESOURCE_ATTRIBUTES],
  2: ['nonResourceAttributes', { 1: ['path', 'text'], 2: ['verb', 'text'] }],
};
const DELETE_OPTIONS: Shape = {
  1: ['gracePeriodSeconds', 'amount'],
  2: ['preconditions', { 1: ['uid', 'text'], 2: ['resourceVersion', 'text'] }],
  4: ['propagationPolicy', 'text'],
  5: ['dryRun', 'text', true],
};

export const SHAPES: Readonly<Record<string, Shape>> = {
  Namespace: object(),
  ServiceAccount: object(),
  ConfigMap: object({ 2: ['data', 'map'], 3: ['binaryData', 'base64Map'] }),
  Secret: object({ 2: ['data', 'base64Map'], 3: ['type', 'text'], 4: ['stringData', 'map'] }),
  Role: ROLE,
  ClusterRole: ROLE,
  RoleBinding: BINDING,
  ClusterRoleBinding: BINDING,
  SelfSubjectAccessReview: object({ 2: ['spec', ACCESS] }),
  SelfSubjectRulesReview: object({ 2: ['spec', { 1: ['namespace', 'text'] }] }),
  SelfSubjectReview: object(),
  TokenRequest: object({ 2: ['spec', { 1: ['audiences', 'text', true], 4: ['expirationSeconds', 'amount'] }] }),
  Eviction: object({ 2: ['deleteOptions', DELETE_OPTIONS] }),
  DeleteOptions: DELETE_OPTIONS,
};

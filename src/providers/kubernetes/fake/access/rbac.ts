// Role-based access: roles and bindings are objects, and every call is judged by them.
import { type Fields, fieldsOf, type KubeObject, listOf, textOf } from '../objects/object.ts';
import type { World } from '../world.ts';
import type { User } from './users.ts';

/** A request to authorize. */
export interface Attempt {
  readonly verb: string;
  readonly group: string;
  /** With the subresource: `pods/status`. */
  readonly resource: string;
  /** Undefined: in all namespaces, or outside of any. */
  readonly namespace: string | undefined;
  readonly name: string | undefined;
}

const GROUP = 'rbac.authorization.k8s.io';

function isSubject(subject: Fields, user: User, bindingNamespace: string | undefined): boolean {
  const name = textOf(subject.name);
  if (subject.kind === 'User') return name === user.name;
  if (subject.kind === 'Group') return user.groups.includes(name);
  const namespace = textOf(subject.namespace) || bindingNamespace;
  return subject.kind === 'ServiceAccount' && user.name === `system:serviceaccount:${namespace}:${name}`;
}

function rulesOf({ store }: World, binding: KubeObject): readonly Fields[] {
  const { kind, name } = fieldsOf(binding.roleRef);
  const isCluster = kind === 'ClusterRole';
  const plural = isCluster ? 'clusterroles' : 'roles';
  const role = store.get(`${GROUP}/${plural}`, isCluster ? undefined : binding.metadata.namespace, textOf(name));
  return listOf(role?.rules).map(fieldsOf);
}

/** All rules that hold for a user: everywhere, and in one namespace. */
export function rulesFor(world: World, user: User, namespace: string | undefined): readonly Fields[] {
  if (user.groups.includes('system:masters')) {
    return [
      { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
      { verbs: ['*'], nonResourceURLs: ['*'] },
    ];
  }
  const bindings = [
    ...world.store.list(`${GROUP}/clusterrolebindings`),
    ...(namespace === undefined ? [] : world.store.list(`${GROUP}/rolebindings`, namespace)),
  ];
  return bindings
    .filter(({ subjects, metadata }) =>
      listOf(subjects).some((subject) => isSubject(fieldsOf(subject), user, metadata.namespace)),
    )
    .flatMap((binding) => rulesOf(world, binding));
}

const has = (list: unknown, word: string): boolean => listOf(list).includes('*') || listOf(list).includes(word);

function covers(rule: Fields, { verb, group, resource, name }: Attempt): boolean {
  const subresource = resource.split('/')[1];
  const isNamed = listOf(rule.resources).some(
    (one) => one === '*' || one === resource || (subresource !== undefined && one === `*/${subresource}`),
  );
  const names = listOf(rule.resourceNames);
  return has(rule.verbs, verb) && has(rule.apiGroups, group) && isNamed && (names.length === 0 || names.includes(name));
}

export const mayDo = (world: World, user: User, attempt: Attempt): boolean =>
  rulesFor(world, user, attempt.namespace).some((rule) => covers(rule, attempt));

/** `User "x" cannot list resource "pods" in API group "" in the namespace "default"`. */
export function refusalText({ name }: User, { verb, group, resource, namespace }: Attempt): string {
  const place = namespace === undefined ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  return `User "${name}" cannot ${verb} resource "${resource}" in API group "${group}" ${place}`;
}

// Questions about access: `kubectl auth can-i`, `kubectl auth whoami`.
import { type Fields, fieldsOf, listOf, textOf } from '../objects/object.ts';
import type { World } from '../world.ts';
import { type Attempt, mayDo, rulesFor } from './rbac.ts';
import type { User } from './users.ts';

function attemptOf(attributes: Fields): Attempt {
  const subresource = textOf(attributes.subresource);
  return {
    verb: textOf(attributes.verb),
    group: textOf(attributes.group),
    resource: subresource === '' ? textOf(attributes.resource) : `${textOf(attributes.resource)}/${subresource}`,
    namespace: textOf(attributes.namespace) || undefined,
    name: textOf(attributes.name) || undefined,
  };
}

function accessStatus(world: World, user: User, spec: Fields): Fields {
  const attributes = fieldsOf(spec.resourceAttributes);
  const allowed =
    spec.resourceAttributes === undefined
      ? mayVisit(world, user, fieldsOf(spec.nonResourceAttributes))
      : mayDo(world, user, attemptOf(attributes));
  return { allowed };
}

const mayVisit = (world: World, user: User, { path, verb }: Fields): boolean =>
  rulesFor(world, user, undefined).some(
    ({ nonResourceURLs, verbs }) =>
      listOf(verbs).some((one) => one === '*' || one === verb) &&
      listOf(nonResourceURLs).some((one) => one === '*' || one === path),
  );

function rulesStatus(world: World, user: User, namespace: string): Fields {
  const rules = rulesFor(world, user, namespace);
  return {
    resourceRules: rules.filter(({ resources }) => resources !== undefined),
    nonResourceRules: rules.filter(({ nonResourceURLs }) => nonResourceURLs !== undefined),
    incomplete: false,
  };
}

/** The review with its status. */
export function review(world: World, user: User, kind: string, asked: Fields): Fields {
  const spec = fieldsOf(asked.spec);
  const subject = { name: textOf(spec.user), groups: listOf(spec.groups).map(textOf) };
  const answers: Readonly<Record<string, () => Fields>> = {
    SelfSubjectAccessReview: () => accessStatus(world, user, spec),
    SubjectAccessReview: () => accessStatus(world, subject, spec),
    LocalSubjectAccessReview: () => accessStatus(world, subject, spec),
    SelfSubjectRulesReview: () => rulesStatus(world, user, textOf(spec.namespace)),
    SelfSubjectReview: () => ({ userInfo: { username: user.name, groups: user.groups } }),
  };
  return { ...asked, metadata: fieldsOf(asked.metadata), status: answers[kind]?.() ?? {} };
}

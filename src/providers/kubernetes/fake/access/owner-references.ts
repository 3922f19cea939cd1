// OwnerReferencesPermissionEnforcement, which OpenShift switches on: whoever holds up the end of an owner must be allowed to.
// k8s.io/kubernetes/plugin/pkg/admission/gc
import { type Fields, fieldsOf, listOf, textOf } from '../objects/object.ts';
import type { KubeCall } from '../wire/read-call.ts';
import { forbidden } from '../wire/status.ts';
import type { World } from '../world.ts';
import { mayDo } from './rbac.ts';
import type { User } from './users.ts';

const MESSAGE =
  "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , <nil>";

/** Refuses a creation whose owner references its caller may not set. */
export function checkOwnerReferences(world: World, user: User, { verb, target, body }: KubeCall): void {
  if (!world.behaviour.enforcesOwnerReferences || verb !== 'create' || !target || body === '') return;
  const metadata = fieldsOf(fieldsOf(JSON.parse(body)).metadata);
  const blocking = listOf(metadata.ownerReferences)
    .map(fieldsOf)
    .filter(({ blockOwnerDeletion }) => blockOwnerDeletion === true);
  const isRefused = (owner: Fields): boolean => {
    const group = /^(.+)\//.exec(textOf(owner.apiVersion))?.[1] ?? '';
    const owned = world.registry.all().find((one) => one.kind === owner.kind && one.group === group);
    const resource = `${owned?.plural ?? ''}/finalizers`;
    return !mayDo(world, user, {
      verb: 'update',
      group,
      resource,
      namespace: target.namespace,
      name: textOf(owner.name),
    });
  };
  if (blocking.some(isRefused)) throw forbidden(target, textOf(metadata.name), MESSAGE);
}

// What becomes of the pods of a Deployment, as values.
import { type Fields, fieldsOf, type KubeObject, listOf, textOf } from '../objects/object.ts';
import { withCondition } from '../pods/status.ts';

const ENDED = new Set(['Succeeded', 'Failed']);

const isGoing = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined;
const hasEnded = ({ status }: KubeObject): boolean => ENDED.has(textOf(status?.phase));

export interface PodPlan {
  readonly gone: readonly KubeObject[];
  readonly missing: number;
}

/** Recreate: pods of another template are gone before the first new one comes. One that has ended stays, and another comes. */
export function planPods(pods: readonly KubeObject[], wanted: number, isOld: (pod: KubeObject) => boolean): PodPlan {
  const old = pods.filter((pod) => isOld(pod) && !hasEnded(pod));
  const active = pods.filter((pod) => !isOld(pod) && !isGoing(pod) && !hasEnded(pod));
  const missing = old.length > 0 ? 0 : Math.max(0, wanted - active.length);
  return { gone: [...old, ...active.slice(wanted)], missing };
}

const REPLICA_FAILURE = 'ReplicaFailure';

/** The conditions of a Deployment; `refused` is why no pod could be made. */
export function deploymentConditions(
  { status, spec }: KubeObject,
  { ready, refused, nowMs }: { readonly ready: number; readonly refused: string | undefined; readonly nowMs: number },
): readonly Fields[] {
  const isAvailable = ready >= Number(spec?.replicas ?? 1);
  const reason = isAvailable ? 'MinimumReplicasAvailable' : 'MinimumReplicasUnavailable';
  const made = withCondition({ conditions: status?.conditions }, 'Available', isAvailable, nowMs, { reason });
  if (refused !== undefined) {
    const why = { reason: 'FailedCreate', message: refused };
    return listOf(withCondition(made, REPLICA_FAILURE, true, nowMs, why).conditions).map(fieldsOf);
  }
  return listOf(made.conditions)
    .map(fieldsOf)
    .filter(({ type }) => type !== REPLICA_FAILURE);
}

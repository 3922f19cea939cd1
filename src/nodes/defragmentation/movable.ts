// Why a node is not emptied, whatever room there is elsewhere. Pure.

import type { PodFact } from '../cluster-objects.ts';
import { DELETION_TAINT } from '../objects.ts';
import type { PodStay } from '../pod-stay.ts';
import { tolerates } from '../simulation/pod-class.ts';
import type { SurveyedNode } from '../survey.ts';

/** A pod that our taint does not keep away would come back to the node that it was moved off. */
const comesBack = ({ class: pod }: PodFact): boolean =>
  tolerates(pod, [{ key: DELETION_TAINT, value: '0', effect: 'NoSchedule' }]);

/** Why the pod is not moved to save a node; undefined: it may be. */
export const staysOf = (pod: PodFact, podStay: PodStay): string | undefined =>
  podStay.ofItself(pod) ?? (comesBack(pod) ? 'it tolerates every taint, and would come back' : undefined);

/** Pods that are to be moved; those that end already go by themselves. */
export const toMove = ({ pods }: SurveyedNode): readonly PodFact[] => pods.filter(({ isDeleted }) => !isDeleted);

/** What keeps the node for good. */
export function obstacleOf(node: SurveyedNode, podStay: PodStay): string | undefined {
  const { fact, group, instance } = node;
  if (!group || !instance) return 'its machine is in none of the groups';
  if (fact.mustStay) return 'an annotation says that it must stay';
  for (const pod of toMove(node)) {
    const why = staysOf(pod, podStay);
    if (why !== undefined) return `${pod.key} is not moved: ${why}`;
  }
  return undefined;
}

/** What keeps it now, and may not keep it later. */
export function budgetObstacleOf(node: SurveyedNode, podStay: PodStay): string | undefined {
  for (const pod of toMove(node)) {
    const why = podStay.ofBudget(pod);
    if (why !== undefined) return `${pod.key} is not moved: ${why}`;
  }
  return undefined;
}

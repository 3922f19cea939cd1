// What is done next about nodes whose machines end by themselves. Pure.
import { MINUTE_MS } from '#core/clock.ts';
import type { PodFact } from './cluster-objects.ts';
import type { Evaluation } from './evaluate.ts';
import type { Policy } from './policy.ts';
import { isLate, isMarked, leaversOf } from './rotation-due.ts';
import { expiringNodes, hasStarted, type NodeSurvey, type SurveyedNode } from './survey.ts';

/** Pods of one node that are evicted. */
export interface Eviction {
  readonly node: SurveyedNode;
  readonly pods: readonly PodFact[];
}

/** A pod whose budget refused is not asked again before this. */
export const REFUSED_AGAIN_MS = MINUTE_MS / 2;

export interface RotationInput {
  readonly survey: NodeSurvey;
  readonly evaluation: Evaluation;
  readonly policy: Policy;
  readonly now: number;
  /** By uid of a pod: when its budget refused last. */
  readonly refusedAt: ReadonlyMap<string, number>;
}

const hasReadyPlace = ({ packing }: Evaluation, { key }: PodFact): boolean => packing.placed.get(key)?.kind === 'ready';

/** Whether all that it needs is there without it: room for its pods, and until it is late also the whole target. */
export function isReplaced(node: SurveyedNode, { survey, evaluation, policy, now }: Omit<RotationInput, 'refusedAt'>) {
  const leavers = leaversOf(node, survey.podStay);
  if (!leavers.every((pod) => hasReadyPlace(evaluation, pod))) return false;
  const there = survey.nodes.filter(hasStarted).length;
  return evaluation.nodes <= there || (leavers.length > 0 && isLate(node, policy, now));
}

export type RotationStep =
  | { readonly do: 'rotate'; readonly nodes: readonly SurveyedNode[] }
  | { readonly do: 'evict'; readonly evictions: readonly Eviction[]; readonly why: 'rotation' | 'defragmentation' };

/** First no further pods are let on the node, then those on it are evicted; it is deleted once it is empty. */
export function nextRotation(input: RotationInput): RotationStep | undefined {
  const { survey, evaluation, now, refusedAt } = input;
  const expiring = expiringNodes(survey);
  const nodes = expiring.filter((node) => !isMarked(node) && isReplaced(node, input));
  if (nodes.length > 0) return { do: 'rotate', nodes };
  const mayAsk = (pod: PodFact): boolean =>
    survey.podStay.ofBudget(pod) === undefined && now - (refusedAt.get(pod.uid) ?? 0) >= REFUSED_AGAIN_MS;
  const evictions = expiring.filter(isMarked).flatMap((node): Eviction[] => {
    const pods = leaversOf(node, survey.podStay).filter((pod) => hasReadyPlace(evaluation, pod) && mayAsk(pod));
    return pods.length > 0 ? [{ node, pods }] : [];
  });
  return evictions.length > 0 ? { do: 'evict', evictions, why: 'rotation' } : undefined;
}

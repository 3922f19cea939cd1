// What is done next about nodes that are being emptied: their pods are evicted, node by node, or they are put back. Pure.
import { HOUR_MS } from '#core/clock.ts';
import type { NodePoolRow } from '#core/node.ts';
import type { Policy } from '../policy.ts';
import { type Eviction, REFUSED_AGAIN_MS } from '../rotation.ts';
import { isEmpty, isEmptying, isForRoom, isToEmpty, type NodeSurvey, type SurveyedNode } from '../survey.ts';
import { evictionsLeft } from './hourly-budget.ts';
import { toMove } from './movable.ts';
import type { DefragPlan } from './planner.ts';

/** A step that is not done within the hour of its budget is given up. */
const isOverdue = ({ fact }: SurveyedNode, now: number): boolean => now - (fact.deletionAt ?? now) >= HOUR_MS;

export const emptyingNodes = ({ nodes }: NodeSurvey): readonly SurveyedNode[] => nodes.filter(isEmptying);

/** Nodes that are not emptied any longer, whatever a plan would say; those that end soon are emptied for that reason. */
export function toPutBack(
  { nodes }: NodeSurvey,
  { policy, now }: { readonly policy: Policy; readonly now: number },
): readonly SurveyedNode[] {
  const isGivenUp = (node: SurveyedNode): boolean =>
    node.phase === 'unready' || policy.defragmentation.mode !== 'act' || isOverdue(node, now);
  const isOurs = ({ fact }: SurveyedNode): boolean => isToEmpty(fact) || isForRoom(fact);
  return nodes.filter((node) => isOurs(node) && !isEmpty(node) && node.phase !== 'expiring' && isGivenUp(node));
}

export interface EvictionInput {
  readonly survey: NodeSurvey;
  readonly policy: Policy;
  readonly row: NodePoolRow;
  readonly now: number;
  /** By uid of a pod: when its budget refused last. */
  readonly refusedAt: ReadonlyMap<string, number>;
  /** Of the nodes that are being emptied. */
  readonly plan: DefragPlan;
}

/** Those whose pods have begun to leave come first, so that one after the other is done. */
const byBegun = (a: SurveyedNode, b: SurveyedNode): number =>
  Number(b.pods.some(({ isDeleted }) => isDeleted)) - Number(a.pods.some(({ isDeleted }) => isDeleted)) ||
  a.pods.length - b.pods.length ||
  (a.fact.name < b.fact.name ? -1 : 1);

export function nextEvictions(input: EvictionInput): readonly Eviction[] {
  const { survey, policy, row, now, refusedAt, plan } = input;
  const planned = new Set(plan.freed.map(({ node }) => node));
  const turn = emptyingNodes(survey)
    .filter((node) => planned.has(node))
    .toSorted(byBegun)
    .slice(0, policy.defragmentation.maxConcurrent);
  let left = evictionsLeft(row, policy, now);
  return turn.flatMap((node): Eviction[] => {
    const pods = toMove(node)
      .filter((pod) => survey.podStay.ofBudget(pod) === undefined)
      .filter(({ uid }) => now - (refusedAt.get(uid) ?? 0) >= REFUSED_AGAIN_MS)
      .slice(0, left);
    left -= pods.length;
    return pods.length > 0 ? [{ node, pods }] : [];
  });
}

// A plan of defragmentation as people see it. Pure.
import type { NodePoolRow, ShownDefragmentation, ShownFreedNode } from '#core/node.ts';
import type { Policy } from '../policy.ts';
import { isEmptying, type NodeSurvey } from '../survey.ts';
import { affordable, budgetLeft } from './hourly-budget.ts';
import type { DefragPlan, FreedNode } from './planner.ts';

export interface ShownPlanInput {
  readonly name: string;
  readonly policy: Policy;
  readonly survey: NodeSurvey;
  readonly row: NodePoolRow;
  readonly now: number;
}

const MEANS: Readonly<Record<Policy['defragmentation']['mode'], string>> = {
  off: 'The mode is off: nothing is moved.',
  plan: 'The mode is plan: nothing is moved.',
  act: 'The mode is act: what the budgets of the hour allow is moved, and the rest later.',
};

function shownFreed({ node, moves }: FreedNode, gpu: string, when: ShownFreedNode['when']): ShownFreedNode {
  const { fact, group, gpus, gpusRequested } = node;
  return {
    name: fact.name,
    group: group?.policy.name,
    gpus,
    gpusRequested,
    pricePerHour: group?.policy.pricePerHour ?? group?.state.template.pricePerHour,
    when,
    moves: moves.map(({ pod, to }) => ({ pod: pod.key, to, gpus: pod.class.requests[gpu] ?? 0 })),
  };
}

export function shownDefragPlan({ freed, kept }: DefragPlan, input: ShownPlanInput): ShownDefragmentation {
  const { name, policy, survey, row, now } = input;
  const { mode } = policy.defragmentation;
  const further = freed.filter(({ node }) => !isEmptying(node));
  const soon = new Set(affordable(further, budgetLeft(row, policy, survey, now)));
  const whenOf = (one: FreedNode): ShownFreedNode['when'] => {
    if (isEmptying(one.node)) return 'under way';
    return soon.has(one) ? 'this hour' : 'later';
  };
  const nodes = freed.map((one) => shownFreed(one, survey.gpu, whenOf(one)));
  const prices = nodes.flatMap(({ pricePerHour }) => pricePerHour ?? []);
  return {
    name,
    mode,
    message: MEANS[mode],
    nodes,
    evictions: nodes.reduce((sum, { moves }) => sum + moves.length, 0),
    // A sum without some of the prices would say that those nodes cost nothing.
    savedPerHour: prices.length === nodes.length ? prices.reduce((sum, price) => sum + price, 0) : undefined,
    kept: [...kept].map(([node, why]) => ({ node, why })),
  };
}

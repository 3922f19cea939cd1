// What keeps groups that were found from being sized, each with what to do about it. Pure.
import type { Obstacle } from './group-finder.ts';
import { POOL_LABEL } from './objects.ts';
import type { NodeSurvey, SeenGroup } from './survey.ts';

/** The Muster pool that makes workers in the group of that id. */
export type PoolOf = (group: string) => string | undefined;

const refusalOf = ({ state: { refusal } }: SeenGroup): Obstacle | undefined =>
  refusal && { reason: refusal.reason, message: `${refusal.message} ${refusal.remedy}` };

function takenByPool({ id, policy }: SeenGroup, poolOf: PoolOf): Obstacle | undefined {
  const pool = poolOf(id);
  if (pool === undefined) return undefined;
  const message = `The pool ${pool} has its workers in the group ${policy.name}. Name another group, or remove the pool.`;
  return { reason: 'GroupTaken', message };
}

function withoutQueue({ policy, hasQueue }: SeenGroup): Obstacle | undefined {
  if (!policy.flexStart || hasQueue) return undefined;
  const message = `The group ${policy.name} has no queue for machines that end by themselves. Remove flexStart, or name a group that has one.`;
  return { reason: 'NoQueueInGroup', message };
}

/** The first thing that is wrong with one of the groups. */
export function obstacleOfGroups(groups: readonly SeenGroup[], poolOf: PoolOf): Obstacle | undefined {
  for (const group of groups) {
    const obstacle = refusalOf(group) ?? takenByPool(group, poolOf) ?? withoutQueue(group);
    if (obstacle) return obstacle;
  }
  return undefined;
}

/**
 * Nodes that are not counted would be grown beside, again and again: where new ones come without the label, or none has it.
 * A single one that an operator takes out of the count by removing the label stays out.
 */
export function obstacleOfLabels({ nodes, unlabelled }: NodeSurvey, name: string): Obstacle | undefined {
  const isAny = nodes.some(({ group }) => group !== undefined);
  const found = unlabelled.filter(({ isAsked }) => isAsked || !isAny);
  const first = found[0]?.fact;
  if (!first) return undefined;
  const more = found.length > 1 ? ` and ${found.length - 1} more nodes` : '';
  const label = `${POOL_LABEL}=${name}`;
  const message =
    `${first.name}${more} of its groups do not bear the label ${label}. ` +
    `Set it where the nodes of the group get their labels, and on those: kubectl label node ${first.name} ${label}`;
  return { reason: 'NodesNotLabelled', message };
}

/** A group whose nodes would have no GPU: pods that wait for one would make it grow in vain. */
export function obstacleOfTemplates(
  { gpu, templates }: NodeSurvey,
  groups: readonly SeenGroup[],
): Obstacle | undefined {
  const without = groups.find(({ id }) => !((templates.get(id)?.allocatable[gpu] ?? 0) > 0));
  if (!without) return undefined;
  const message = `The instance template of ${without.policy.name} has no ${gpu}. Give it GPUs, set gpuResource, or name another group.`;
  return { reason: 'NoGPUInTemplate', message };
}

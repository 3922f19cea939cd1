// How much may be moved in any hour: every eviction counts, and every node that is being emptied or was deleted so. Pure.
import { HOUR_MS } from '#core/clock.ts';
import type { NodePoolRow } from '#core/node.ts';
import { type Change, put } from '#core/store.ts';
import type { NodeStep } from '../next-step.ts';
import type { Policy } from '../policy.ts';
import { isToEmpty, type NodeSurvey } from '../survey.ts';
import { toMove } from './movable.ts';
import type { FreedNode } from './planner.ts';

export interface HourlyBudget {
  readonly nodes: number;
  readonly evictions: number;
}

const isRecent = (at: number, now: number): boolean => now - at < HOUR_MS;

const recent = (times: readonly number[], now: number): number => times.filter((at) => isRecent(at, now)).length;

/** Evictions that may be made now, whatever is planned. */
export const evictionsLeft = ({ evictedAt }: NodePoolRow, { defragmentation }: Policy, now: number): number =>
  Math.max(0, defragmentation.maxEvictionsPerHour - recent(evictedAt, now));

/** What is left for further nodes, beside those that are being emptied. */
export function budgetLeft(row: NodePoolRow, policy: Policy, { nodes }: NodeSurvey, now: number): HourlyBudget {
  const begun = nodes.filter(({ phase }) => phase === 'emptying');
  const planned = begun.reduce((sum, node) => sum + toMove(node).length, 0);
  const { maxNodesPerHour } = policy.defragmentation;
  return {
    nodes: Math.max(0, maxNodesPerHour - recent(row.freedAt, now) - begun.length),
    evictions: Math.max(0, evictionsLeft(row, policy, now) - planned),
  };
}

/** Of these nodes, in their order, those that the budget allows. */
export function affordable(freed: readonly FreedNode[], budget: HourlyBudget): readonly FreedNode[] {
  const taken: FreedNode[] = [];
  let { evictions } = budget;
  for (const one of freed) {
    if (taken.length >= budget.nodes || one.moves.length > evictions) continue;
    taken.push(one);
    evictions -= one.moves.length;
  }
  return taken;
}

const withTimes = (times: readonly number[], count: number, now: number): readonly number[] => [
  ...times.filter((at) => isRecent(at, now)),
  ...Array.from({ length: count }, () => now),
];

/** What a step takes of the budgets, written before its calls: a restart between the two exceeds none. */
export function spentOn(step: NodeStep, row: NodePoolRow, now: number): readonly Change[] {
  if (step.do === 'evict' && step.why === 'defragmentation') {
    const count = step.evictions.reduce((sum, { pods }) => sum + pods.length, 0);
    return [put('nodePools', { ...row, evictedAt: withTimes(row.evictedAt, count, now) })];
  }
  const freed = step.do === 'delete' ? step.nodes.filter(({ fact }) => isToEmpty(fact)).length : 0;
  return freed === 0 ? [] : [put('nodePools', { ...row, freedAt: withTimes(row.freedAt, freed, now) })];
}

/** Evictions that were written and were refused. */
export const withoutEvictions = (row: NodePoolRow, count: number): NodePoolRow => ({
  ...row,
  evictedAt: row.evictedAt.slice(0, Math.max(0, row.evictedAt.length - count)),
});

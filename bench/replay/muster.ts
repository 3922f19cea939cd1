// This controller: `evaluate` and the order of its steps decide, as in a pass.
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { openDefragPlanner, type PlannerInput } from '../../src/nodes/defragmentation/planner.ts';
import { evaluate } from '../../src/nodes/evaluate.ts';
import { CORDON_MS, type NodeStep, nextNodeStep } from '../../src/nodes/next-step.ts';
import type { PodStay } from '../../src/nodes/pod-stay.ts';
import type { Policy as NodePolicy } from '../../src/nodes/policy.ts';
import type { Fleet, FleetNode, Policy } from './fleet.ts';
import { groupOf, podOf, surveyOf } from './muster-view.ts';

/** Events are gathered, and the next pass after an action comes a second later. */
const GATHER_MS = 200;

/** What moving would save is looked for this often. */
const PLAN_AGAIN_MS = MINUTE_MS;

/** With the mode `act` every task may be moved once, and the budgets of the hour are lifted. */
export function muster(name: string, policy: NodePolicy): Policy {
  const movesAct = policy.defragmentation.mode === 'act';
  const moved = new Set<string>();
  let plannedAtMs = Number.NEGATIVE_INFINITY;
  const podStay: PodStay = {
    ofItself: ({ key }) => (movesAct && !moved.has(key) ? undefined : 'it is not moved again'),
    ofBudget: () => undefined,
  };
  const deletionAt = new Map<FleetNode, number>();
  const cordonedAt = new Map<string, number>();

  const nodesOf = ({ nodes }: Fleet, step: NodeStep): readonly FleetNode[] => {
    const names = new Set('nodes' in step ? step.nodes.map(({ fact }) => fact.name) : []);
    return [...nodes].filter((node) => names.has(node.name));
  };

  function mark(fleet: Fleet, node: FleetNode, atMs: number | undefined): void {
    if (atMs === undefined) deletionAt.delete(node);
    else deletionAt.set(node, atMs);
    cordonedAt.delete(node.name);
    fleet.setClosed(node, atMs !== undefined);
  }

  function act(step: NodeStep, node: FleetNode, fleet: Fleet): void {
    switch (step.do) {
      case 'taint':
      case 'untaint':
        return mark(fleet, node, step.do === 'taint' ? step.deletionAt : undefined);
      case 'cordon':
        return void cordonedAt.set(node.name, fleet.nowMs());
      case 'delete':
        return fleet.remove(node);
    }
  }

  function carryOut(step: NodeStep, fleet: Fleet): void {
    if (step.do === 'grow') fleet.ask(step.parts.reduce((sum, { count }) => sum + count, 0));
    for (const node of nodesOf(fleet, step)) act(step, node, fleet);
  }

  /** Empties nodes as the planner finds them: all of them are closed before the first task moves. */
  function defragment(fleet: Fleet, input: PlannerInput): boolean {
    const planner = openDefragPlanner(input);
    for (const node of planner.nodes) planner.consider(node);
    const freed = new Map(planner.plan().freed.map(({ node }) => [node.fact.name, node]));
    const nodes = [...fleet.nodes].filter((node) => freed.has(node.name));
    for (const node of nodes) mark(fleet, node, fleet.nowMs());
    for (const node of nodes) {
      for (const task of [...node.tasks]) {
        moved.add(podOf(task).key);
        fleet.move(task, node);
      }
    }
    return nodes.length > 0;
  }

  function look(fleet: Fleet): number | undefined {
    const now = fleet.nowMs();
    for (const node of deletionAt.keys()) if (!fleet.nodes.has(node)) deletionAt.delete(node);
    const group = groupOf(fleet, policy);
    const seen = { policy, groups: [group], survey: surveyOf(fleet, group, deletionAt, podStay) };
    const rooms = new Map([[group.account, Number.POSITIVE_INFINITY]]);
    const evaluation = evaluate({ ...seen, pending: [...fleet.waiting].map(podOf), others: [], rooms, now });
    const { step } = nextNodeStep({ ...seen, now, rooms, evaluation, cordonedAt, refusedAt: new Map() });
    carryOut(step, fleet);
    if (step.do !== 'nothing') return now + SECOND_MS;
    if (movesAct && fleet.waiting.size === 0 && seen.survey.coming.length === 0 && now - plannedAtMs >= PLAN_AGAIN_MS) {
      plannedAtMs = now;
      if (defragment(fleet, { ...seen, evaluation, others: [], takers: new Set() })) return now + SECOND_MS;
    }
    const cordoned = [...cordonedAt.values()].map((at) => at + CORDON_MS);
    const due = [...deletionAt.values(), ...cordoned].filter((at) => at > now);
    return due.length > 0 ? Math.min(...due) : undefined;
  }
  return { name, afterMs: GATHER_MS, look };
}

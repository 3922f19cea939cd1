// This controller: `evaluate` and the order of its steps decide, as in a pass.
import { SECOND_MS } from '#core/clock.ts';
import { evaluate } from '../../src/nodes/evaluate.ts';
import { CORDON_MS, type NodeStep, nextNodeStep } from '../../src/nodes/next-step.ts';
import type { Policy as NodePolicy } from '../../src/nodes/policy.ts';
import type { Fleet, FleetNode, Policy } from './fleet.ts';
import { groupOf, podOf, surveyOf } from './muster-view.ts';

/** Events are gathered, and the next pass after an action comes a second later. */
const GATHER_MS = 200;

export function muster(name: string, policy: NodePolicy): Policy {
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

  function look(fleet: Fleet): number | undefined {
    const now = fleet.nowMs();
    for (const node of deletionAt.keys()) if (!fleet.nodes.has(node)) deletionAt.delete(node);
    const group = groupOf(fleet, policy);
    const seen = { policy, groups: [group], survey: surveyOf(fleet, group, deletionAt) };
    const rooms = new Map([[group.account, Number.POSITIVE_INFINITY]]);
    const evaluation = evaluate({ ...seen, pending: [...fleet.waiting].map(podOf), others: [], rooms, now });
    const { step } = nextNodeStep({ ...seen, now, rooms, evaluation, cordonedAt, refusedAt: new Map() });
    carryOut(step, fleet);
    if (step.do !== 'nothing') return now + SECOND_MS;
    const cordoned = [...cordonedAt.values()].map((at) => at + CORDON_MS);
    const due = [...deletionAt.values(), ...cordoned].filter((at) => at > now);
    return due.length > 0 ? Math.min(...due) : undefined;
  }
  return { name, afterMs: GATHER_MS, look };
}

// What a provisioner does and why, as people read it.
import type { Evaluation } from './evaluate.ts';
import type { Decided, NodeStep } from './next-step.ts';
import type { Policy } from './policy.ts';

export const some = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

const names = (nodes: readonly { readonly fact: { readonly name: string } }[]): string => {
  const shown = nodes.slice(0, 3).map(({ fact }) => fact.name);
  return `${shown.join(', ')}${nodes.length > 3 ? ` and ${nodes.length - 3} more` : ''}`;
};

/** The action, the verb first. */
export function didOf(step: NodeStep): string {
  switch (step.do) {
    case 'nothing':
      return 'nothing';
    case 'untaint':
      return `untaint ${some(step.nodes.length, 'node')}: ${names(step.nodes)}`;
    case 'cordon':
    case 'delete':
      return `delete ${some(step.nodes.length, 'node')}: ${names(step.nodes)}`;
    case 'taint':
      return `taint ${some(step.nodes.length, 'empty node')}: ${names(step.nodes)}`;
    case 'rotate':
      return `rotate ${some(step.nodes.length, 'node')}: ${names(step.nodes)}`;
    case 'empty':
      return `empty ${some(step.nodes.length, 'node')}: ${names(step.nodes)}`;
    case 'evict': {
      const pods = step.evictions.reduce((sum, one) => sum + one.pods.length, 0);
      return `evict ${some(pods, 'pod')} of ${names(step.evictions.map(({ node }) => node))}`;
    }
    case 'give-up': {
      const { group, instances, requests } = step.lost;
      const count = instances.length + requests.reduce((sum, request) => sum + request.count, 0);
      return `give-up ${some(count, 'machine')} of ${group.policy.name}`;
    }
    case 'cancel':
      return `cancel ${some(step.requests.length, 'request')} of ${step.group.policy.name}`;
    case 'grow':
      return `grow ${step.parts.map(({ group, count }) => `${group.policy.name} by ${count}`).join(', ')}`;
  }
}

export function utilization({ quantities: { used, gpusPerNode, nodes } }: Evaluation): number {
  const all = gpusPerNode * nodes;
  return all === 0 ? 0 : Math.floor((100 * used) / all);
}

/** `120 nodes, 80 busy, 66 % < 80 % → 100`. */
function whySize(evaluation: Evaluation, { minPercent, maxPercent, buffer }: Policy): string {
  const { quantities, nodes: target, reason, uncapped } = evaluation;
  const parts = [some(quantities.nodes, 'node'), `${quantities.busy} busy`];
  if (quantities.pendingPods > 0)
    parts.push(`${some(quantities.pendingPods, 'pod')} waiting for ${some(quantities.pending, 'GPU')}`);
  if (quantities.leavingPods > 0) parts.push(`${some(quantities.leavingPods, 'pod')} on nodes that end soon`);
  const percent = utilization(evaluation);
  if (reason.code === 'min-utilization') parts.push(`${percent} % < ${minPercent} %`);
  if (reason.code === 'max-utilization') parts.push(`${percent} % > ${maxPercent} %`);
  if (reason.code === 'idle-nodes') parts.push(`${buffer} idle to keep`);
  const cap = uncapped > target ? ` (${uncapped} without the cap)` : '';
  return `${parts.join(', ')} → ${target}${cap}`;
}

export const whyDecided = ({ note }: Decided, evaluation: Evaluation, policy: Policy): string =>
  [whySize(evaluation, policy), ...(note ? [note] : [])].join('; ');

/** What would have to change for another decision. */
export function unlessOf(
  { step }: Pick<Decided, 'step'>,
  { nodes, quantities: { gpusPerNode } }: Evaluation,
  { minPercent }: Policy,
) {
  if (step.do !== 'taint') return undefined;
  const at = `${new Date(step.deletionAt).toISOString().slice(11, 16)} UTC`;
  const most = minPercent === undefined ? undefined : Math.floor((nodes * gpusPerNode * minPercent) / 100);
  const limit = most === undefined ? 'pods come' : `more than ${some(most, 'GPU')} are asked for`;
  return `deleted at ${at} unless ${limit}`;
}

/** What follows a thaw: an operator who has frozen everything reads the plan before it. */
export function afterThaw({ held }: Decided, evaluation: Evaluation, policy: Policy): string | undefined {
  if (held === undefined) return undefined;
  const unless = unlessOf({ step: held }, evaluation, policy);
  return `after muster thaw: ${[didOf(held), ...(unless ? [unless] : [])].join(', ')}`;
}

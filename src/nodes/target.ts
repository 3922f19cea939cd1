// How many nodes a provisioner should have, in whole numbers alone.
import type { Reason } from '#core/reason.ts';

/** What a provisioner has at one moment. */
export interface Quantities {
  readonly gpusPerNode: number;
  /** GPUs that pods on its nodes have asked for. */
  readonly used: number;
  /** GPUs that pods which wait have asked for. */
  readonly pending: number;
  readonly pendingPods: number;
  /** Pods that must leave nodes that end soon. */
  readonly leavingPods: number;
  /** Ready, tainted and coming nodes, without those that end soon. */
  readonly nodes: number;
  /** Nodes that it takes beyond all these to place the pods that wait, and those that must leave. */
  readonly missing: number;
  /** Nodes with pods that ask for GPUs, once all these are placed. */
  readonly busy: number;
}

export interface TargetLimits {
  readonly minPercent?: number | undefined;
  readonly maxPercent?: number | undefined;
  /** Idle nodes to keep; undefined: nobody asked for a number. */
  readonly buffer?: number | undefined;
  readonly minNodes: number;
  /** The lowest of all caps. */
  readonly mostNodes: number;
}

export interface TargetSize {
  readonly nodes: number;
  readonly reason: Reason;
  /** What it would be by the rule that decides, were it not for the caps. */
  readonly uncapped: number;
}

interface Bound {
  readonly nodes: number;
  readonly reason: Reason;
}

/** Whole division, rounded up. */
const upTo = (amount: number, by: number): number => Math.ceil(amount / by);

/** The largest size at which the utilisation is still the least one; where nobody set that, it says nothing. */
function shrunk({ used, gpusPerNode, nodes }: Quantities, { minPercent, buffer }: TargetLimits): Bound {
  if (minPercent !== undefined && gpusPerNode > 0) {
    const reason = { code: 'min-utilization', with: { minGPUUtilizationPercent: minPercent } };
    return { nodes: Math.floor((100 * used) / (gpusPerNode * minPercent)), reason };
  }
  if (buffer !== undefined) return { nodes: 0, reason: { code: 'min-nodes', with: { minNodes: 0 } } };
  return { nodes, reason: STEADY };
}

const STEADY: Reason = { code: 'steady' };

/** Each keeps the provisioner from being smaller; the largest decides. Equal ones: the first. */
function boundsOf(quantities: Quantities, limits: TargetLimits): readonly Bound[] {
  const { gpusPerNode, used, pending, pendingPods, leavingPods, nodes, missing, busy } = quantities;
  const { maxPercent, buffer = 0, minNodes } = limits;
  const bounds: Bound[] = [];
  if (pendingPods > 0) bounds.push({ nodes: nodes + missing, reason: { code: 'pods-pending' } });
  else if (leavingPods > 0) bounds.push({ nodes: nodes + missing, reason: { code: 'ends-soon' } });
  if (maxPercent !== undefined && gpusPerNode > 0) {
    const reason = { code: 'max-utilization', with: { maxGPUUtilizationPercent: maxPercent } };
    bounds.push({ nodes: upTo(100 * (used + pending), gpusPerNode * maxPercent), reason });
  }
  const reason = buffer > 0 ? { code: 'idle-nodes', with: { minUnutilizedGPUNodes: buffer } } : { code: 'busy-nodes' };
  bounds.push({ nodes: busy + buffer, reason });
  if (minNodes > 0) bounds.push({ nodes: minNodes, reason: { code: 'min-nodes', with: { minNodes } } });
  return bounds;
}

const largest = (bounds: readonly Bound[]): Bound =>
  bounds.reduce((best, bound) => (bound.nodes > best.nodes ? bound : best));

/** Lower bounds come first: only where nothing waits, and none of them asks for more than there is, it becomes smaller. */
export function targetSize(quantities: Quantities, limits: TargetLimits): TargetSize {
  const { nodes, pendingPods } = quantities;
  const bounds = boundsOf(quantities, limits);
  const most = largest(bounds);
  const free = decided(quantities, limits, most, pendingPods > 0 || most.nodes > nodes);
  if (free.nodes <= limits.mostNodes) return { ...free, uncapped: free.nodes };
  return {
    nodes: limits.mostNodes,
    reason: { code: 'most-nodes', with: { maxNodes: limits.mostNodes } },
    uncapped: free.nodes,
  };
}

function decided(quantities: Quantities, limits: TargetLimits, most: Bound, mayNotShrink: boolean): Bound {
  if (mayNotShrink) return most;
  const { nodes } = quantities;
  const wanted = largest([most, shrunk(quantities, limits)]);
  return wanted.nodes >= nodes ? { nodes, reason: STEADY } : wanted;
}

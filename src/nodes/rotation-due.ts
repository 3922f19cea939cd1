// When a node whose machine ends by itself is to be replaced, and which ones are now. Pure.
import type { NodeFact, PodFact } from './cluster-objects.ts';
import type { PodStay } from './pod-stay.ts';
import type { Policy } from './policy.ts';

/** What decides about the rotation of a node. */
export interface EndingNode {
  readonly fact: NodeFact;
  readonly pods: readonly PodFact[];
  readonly endsAt?: number | undefined;
}

/** Spread over the lead, so that machines that began together are not replaced together. */
function jitterMs(name: string, leadMs: number): number {
  let hash = 0;
  for (const letter of name) hash = (hash * 31 + letter.charCodeAt(0)) >>> 0;
  return hash % (Math.floor(leadMs / 4) + 1);
}

/** A machine that runs for less than the lead would be replaced as soon as it is there. */
function leadOf({ fact, endsAt }: EndingNode, { rotation }: Policy): number {
  const lifeMs = Math.max(0, (endsAt ?? 0) - fact.createdAt);
  return Math.min(rotation.leadMs, Math.floor(lifeMs / 2));
}

/** When a node that ends is to be replaced. */
export function rotationAt(node: EndingNode, policy: Policy): number | undefined {
  const leadMs = leadOf(node, policy);
  return node.endsAt === undefined ? undefined : node.endsAt - leadMs - jitterMs(node.fact.name, leadMs);
}

/** Whether half of the lead is over and the node is still there. */
export const isLate = (node: EndingNode, policy: Policy, now: number): boolean =>
  node.endsAt !== undefined && now >= node.endsAt - leadOf(node, policy) / 2;

export const isMarked = ({ fact }: EndingNode): boolean => fact.deletionAt !== undefined;

/** Its pods that are moved to other nodes. */
export const leaversOf = ({ pods }: EndingNode, podStay: PodStay): readonly PodFact[] =>
  pods.filter((pod) => !pod.isDeleted && podStay.ofItself(pod) === undefined);

/** Nothing more can be done about it now: what is left on it stays, or its budgets let nothing go. */
function isStuck(node: EndingNode, podStay: PodStay): boolean {
  const isMovable = (pod: PodFact): boolean =>
    podStay.ofItself(pod) === undefined && podStay.ofBudget(pod) === undefined;
  return isMarked(node) && node.pods.length > 0 && !node.pods.some((pod) => pod.isDeleted || isMovable(pod));
}

/** Of the nodes that are due the soonest, as many as may be replaced at a time. */
export function rotatingNodes<N extends EndingNode>(
  nodes: readonly N[],
  { policy, podStay, now }: { readonly policy: Policy; readonly podStay: PodStay; readonly now: number },
): ReadonlySet<N> {
  const due = nodes.filter((node) => !node.fact.mustStay && (rotationAt(node, policy) ?? now + 1) <= now);
  const begun = (node: N): number => (isMarked(node) ? 0 : 1);
  const soonest = due.toSorted(
    (a, b) => begun(a) - begun(b) || (a.endsAt ?? 0) - (b.endsAt ?? 0) || (a.fact.name < b.fact.name ? -1 : 1),
  );
  const rotating = new Set<N>();
  let left = policy.rotation.maxConcurrent;
  for (const node of soonest) {
    const isFree = isStuck(node, podStay);
    if (!isFree && left === 0) continue;
    if (!isFree) left -= 1;
    rotating.add(node);
  }
  return rotating;
}

// Where a pod fits, or why it fits nowhere, in the scheduler's words.
import { type KubeObject, textOf } from '../objects/object.ts';
import { type Amounts, amountsOf, hostPortsOf, isSamePort, requestsOf } from './asked.ts';
import { type NeighbourRule, neighbourRules, type PlacedPods } from './neighbours.ts';
import { isLastChoice, isSelected, untolerated } from './node-demands.ts';

/** The nodes with what is on them. */
export interface Occupied extends PlacedPods {
  usedOn(node: string): Amounts;
  /** Whether any pod that is somewhere wants others away. */
  isAnyRepelling(): boolean;
}

interface Wish {
  readonly pod: KubeObject;
  readonly requests: Amounts;
  readonly rules: readonly NeighbourRule[];
}

/** What the node lets in at all, before the pods on it count. */
function refusalOfNode(pod: KubeObject, node: KubeObject): string | undefined {
  if (node.spec?.unschedulable === true) return 'node(s) were unschedulable';
  const taint = untolerated(pod, node);
  if (taint) return `node(s) had untolerated taint {${textOf(taint.key)}: ${textOf(taint.value)}}`;
  return isSelected(pod, node) ? undefined : "node(s) didn't match Pod's node affinity/selector";
}

function arePortsTaken(pod: KubeObject, there: readonly KubeObject[]): boolean {
  const wanted = hostPortsOf(pod);
  return wanted.length > 0 && there.flatMap(hostPortsOf).some((taken) => wanted.some((one) => isSamePort(one, taken)));
}

/** What keeps the pod from the node; none if it fits. Of all filters the first that refuses speaks. */
function obstacles({ pod, requests, rules }: Wish, node: KubeObject, occupied: Occupied): readonly string[] {
  const refusal = refusalOfNode(pod, node);
  if (refusal !== undefined) return [refusal];
  const { name } = node.metadata;
  if (arePortsTaken(pod, occupied.podsOn(name))) return ["node(s) didn't have free ports for the requested pod ports"];
  const room = amountsOf(node.status?.allocatable);
  const used = occupied.usedOn(name);
  const scarce = Object.entries(requests)
    .filter(([resource, asked]) => asked > 0 && asked > (room[resource] ?? 0) - (used[resource] ?? 0))
    .map(([resource]) => (resource === 'pods' ? 'Too many pods' : `Insufficient ${resource}`));
  if (scarce.length > 0) return scarce;
  for (const rule of rules) {
    const why = rule(node);
    if (why !== undefined) return [why];
  }
  return [];
}

export type Placement = { readonly node: string } | { readonly message: string };

/** The words of FailedScheduling and of the condition PodScheduled. */
function refusalText(found: readonly (readonly string[])[]): string {
  const counts = new Map<string, number>();
  for (const reason of found.flat()) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const all = [...counts].map(([reason, count]) => `${count} ${reason}`).sort();
  const head = `0/${found.length} nodes are available`;
  if (found.length === 0) return 'no nodes available to schedule pods';
  const isLackOfRoom = found.some((reasons) => reasons.some((one) => /^(Insufficient|Too many)/.test(one)));
  const preemption = isLackOfRoom
    ? `${found.length} No preemption victims found for incoming pod.`
    : `${found.length} Preemption is not helpful for scheduling.`;
  return `${head}: ${all.join(', ')}. preemption: ${head}: ${preemption}`;
}

/** What keeps the pod from each node; none where it fits. */
export function refusals(pod: KubeObject, occupied: Occupied): ReadonlyMap<KubeObject, readonly string[]> {
  const rules = neighbourRules(pod, occupied, occupied.isAnyRepelling());
  const wish = { pod, requests: requestsOf(pod), rules };
  return new Map(occupied.nodes.map((node) => [node, obstacles(wish, node, occupied)]));
}

/** The node with the fewest pods among those where it fits; one that would rather not take it comes last. */
export function place(pod: KubeObject, occupied: Occupied): Placement {
  const found = refusals(pod, occupied);
  const podsOn = ({ metadata }: KubeObject): number => occupied.usedOn(metadata.name).pods ?? 0;
  const [best] = occupied.nodes
    .filter((node) => found.get(node)?.length === 0)
    .toSorted((a, b) => Number(isLastChoice(pod, a)) - Number(isLastChoice(pod, b)) || podsOn(a) - podsOn(b));
  return best ? { node: best.metadata.name } : { message: refusalText([...found.values()]) };
}

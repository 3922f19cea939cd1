// Where a pod fits, or why it fits nowhere, in the scheduler's words.

import { quantityOf } from '#kube/quantity.ts';
import { type Fields, fieldsOf, type KubeObject, listOf, textOf } from '../objects/object.ts';

/** By name of the resource. */
export type Amounts = Readonly<Record<string, number>>;

export function requestsOf({ spec }: KubeObject): Amounts {
  const sums: Record<string, number> = { pods: 1 };
  for (const container of listOf(spec?.containers)) {
    const requests = fieldsOf(fieldsOf(fieldsOf(container).resources).requests);
    for (const [name, written] of Object.entries(requests)) sums[name] = (sums[name] ?? 0) + (quantityOf(written) ?? 0);
  }
  return sums;
}

const allocatable = ({ status }: KubeObject): Amounts =>
  Object.fromEntries(
    Object.entries(fieldsOf(status?.allocatable)).map(([name, written]) => [name, quantityOf(written) ?? 0]),
  );

const tolerates = (toleration: Fields, taint: Fields): boolean =>
  (toleration.effect === undefined || toleration.effect === taint.effect) &&
  (toleration.key === undefined || toleration.key === taint.key) &&
  (toleration.operator === 'Exists' || textOf(toleration.value) === textOf(taint.value));

function untolerated(pod: KubeObject, node: KubeObject): Fields | undefined {
  const tolerations = listOf(pod.spec?.tolerations).map(fieldsOf);
  return listOf(node.spec?.taints)
    .map(fieldsOf)
    .filter(({ effect }) => effect !== 'PreferNoSchedule')
    .find((taint) => !tolerations.some((one) => tolerates(one, taint)));
}

function fitsExpression(labels: Fields, written: unknown): boolean {
  const { key, operator, values } = fieldsOf(written);
  const value = labels[textOf(key)];
  const isAmong = listOf(values).includes(value);
  if (operator === 'In') return isAmong;
  if (operator === 'NotIn') return !isAmong;
  return (value !== undefined) === (operator === 'Exists');
}

function fitsSelector({ spec }: KubeObject, { metadata }: KubeObject): boolean {
  const labels = metadata.labels ?? {};
  const wanted = Object.entries(fieldsOf(spec?.nodeSelector));
  if (!wanted.every(([key, value]) => labels[key] === value)) return false;
  const affinity = fieldsOf(fieldsOf(spec?.affinity).nodeAffinity);
  const terms = listOf(fieldsOf(affinity.requiredDuringSchedulingIgnoredDuringExecution).nodeSelectorTerms);
  return (
    terms.length === 0 ||
    terms.some((term) => listOf(fieldsOf(term).matchExpressions).every((one) => fitsExpression(labels, one)))
  );
}

/** What keeps the pod from the node; none if it fits. */
function obstacles(pod: KubeObject, node: KubeObject, used: Amounts): string[] {
  if (node.spec?.unschedulable === true) return ['node(s) were unschedulable'];
  const taint = untolerated(pod, node);
  if (taint) {
    const { key, value } = taint;
    return [`node(s) had untolerated taint {${textOf(key)}: ${textOf(value)}}`];
  }
  if (!fitsSelector(pod, node)) return ["node(s) didn't match Pod's node affinity/selector"];
  const room = allocatable(node);
  return Object.entries(requestsOf(pod))
    .filter(([name, asked]) => asked > 0 && asked > (room[name] ?? 0) - (used[name] ?? 0))
    .map(([name]) => (name === 'pods' ? 'Too many pods' : `Insufficient ${name}`));
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

/** The node with the fewest pods among those where it fits. */
export function place(pod: KubeObject, nodes: readonly KubeObject[], usedOn: (node: string) => Amounts): Placement {
  const found = nodes.map((node) => ({ node, why: obstacles(pod, node, usedOn(node.metadata.name)) }));
  const [best] = found
    .filter(({ why }) => why.length === 0)
    .toSorted((a, b) => (usedOn(a.node.metadata.name).pods ?? 0) - (usedOn(b.node.metadata.name).pods ?? 0));
  if (best) return { node: best.node.metadata.name };
  return { message: refusalText(found.map(({ why }) => why)) };
}

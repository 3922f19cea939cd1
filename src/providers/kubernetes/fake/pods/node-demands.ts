// Whether a node lets a pod in by its taints, its labels and its name (plugins TaintToleration and NodeAffinity).
import { type Fields, fieldsOf, type KubeObject, listOf, textOf } from '../objects/object.ts';

const tolerates = (toleration: Fields, taint: Fields): boolean =>
  (toleration.effect === undefined || toleration.effect === taint.effect) &&
  (toleration.key === undefined || toleration.key === taint.key) &&
  (toleration.operator === 'Exists' || textOf(toleration.value) === textOf(taint.value));

function untoleratedOnes(pod: KubeObject, node: KubeObject): Fields[] {
  const tolerations = listOf(pod.spec?.tolerations).map(fieldsOf);
  return listOf(node.spec?.taints)
    .map(fieldsOf)
    .filter((taint) => !tolerations.some((one) => tolerates(one, taint)));
}

/** The first taint that keeps the pod away. */
export const untolerated = (pod: KubeObject, node: KubeObject): Fields | undefined =>
  untoleratedOnes(pod, node).find(({ effect }) => effect !== 'PreferNoSchedule');

/** Whether the pod goes there only where no other node takes it. */
export const isLastChoice = (pod: KubeObject, node: KubeObject): boolean =>
  untoleratedOnes(pod, node).some(({ effect }) => effect === 'PreferNoSchedule');

function fitsExpression(labels: Fields, written: unknown): boolean {
  const { key, operator, values } = fieldsOf(written);
  const value = labels[textOf(key)];
  const [bound] = listOf(values);
  switch (operator) {
    case 'In':
      return value !== undefined && listOf(values).includes(value);
    case 'NotIn':
      return value === undefined || !listOf(values).includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
      return Number(value) > Number(bound);
    case 'Lt':
      return Number(value) < Number(bound);
    default:
      return false;
  }
}

function fitsTerm(written: unknown, { metadata: { labels = {}, name } }: KubeObject): boolean {
  const { matchExpressions, matchFields } = fieldsOf(written);
  const expressions = listOf(matchExpressions);
  const fields = listOf(matchFields);
  // A term without any rule selects no node.
  if (expressions.length + fields.length === 0) return false;
  return (
    expressions.every((one) => fitsExpression(labels, one)) &&
    fields.every((one) => fitsExpression({ 'metadata.name': name }, one))
  );
}

/** Whether the node is one that the pod selects. */
export function isSelected(pod: KubeObject, node: KubeObject): boolean {
  const labels = node.metadata.labels ?? {};
  const wanted = Object.entries(fieldsOf(pod.spec?.nodeSelector));
  if (!wanted.every(([key, value]) => labels[key] === value)) return false;
  const required = fieldsOf(fieldsOf(pod.spec?.affinity).nodeAffinity).requiredDuringSchedulingIgnoredDuringExecution;
  return required === undefined || listOf(fieldsOf(required).nodeSelectorTerms).some((term) => fitsTerm(term, node));
}

// What the API server never changes in a workload that exists.
import { type Fields, fieldsOf, isSame, type KubeObject, textOf } from '../objects/object.ts';
import type { Cause } from '../wire/cause.ts';

const CHANGEABLE = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
];

/** A quantity may be written as a number or as a text. */
const fixedPart = (spec: Fields): string => {
  const fixed = Object.entries(spec).filter(([field]) => !CHANGEABLE.includes(field));
  const sorted = Object.fromEntries(fixed.toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return JSON.stringify(sorted, (_key, value) => (typeof value === 'number' ? String(value) : value));
};

export function checkStatefulSet({ spec }: KubeObject, old: KubeObject | undefined): readonly Cause[] {
  if (!old || fixedPart(fieldsOf(spec)) === fixedPart(fieldsOf(old.spec))) return [];
  const named = CHANGEABLE.map((field) => `'${field}'`);
  const listed = `${named.slice(0, -1).join(', ')} and ${named.at(-1)}`;
  const message = `Forbidden: updates to statefulset spec for fields other than ${listed} are forbidden`;
  return [{ reason: 'FieldValueForbidden', field: 'spec', message }];
}

const TEMPLATE = 'spec.template';

/** Its pods run for ever, and it must find them again. */
function checkTemplate({ template, selector }: Fields): Cause[] {
  const { metadata, spec } = fieldsOf(template);
  const { restartPolicy, activeDeadlineSeconds } = fieldsOf(spec);
  const labels = fieldsOf(fieldsOf(metadata).labels);
  const wanted = Object.entries(fieldsOf(fieldsOf(selector).matchLabels));
  const causes: Cause[] = [];
  if (!wanted.every(([key, value]) => labels[key] === value)) {
    const message = `Invalid value: ${JSON.stringify(labels)}: \`selector\` does not match template \`labels\``;
    causes.push({ reason: 'FieldValueInvalid', field: `${TEMPLATE}.metadata.labels`, message });
  }
  if (restartPolicy !== undefined && restartPolicy !== 'Always') {
    const message = `Unsupported value: "${textOf(restartPolicy)}": supported values: "Always"`;
    causes.push({ reason: 'FieldValueNotSupported', field: `${TEMPLATE}.spec.restartPolicy`, message });
  }
  if (activeDeadlineSeconds !== undefined) {
    const message = 'Forbidden: activeDeadlineSeconds in ReplicaSet is not Supported';
    causes.push({ reason: 'FieldValueForbidden', field: `${TEMPLATE}.spec.activeDeadlineSeconds`, message });
  }
  return causes;
}

export function checkDeployment({ spec }: KubeObject, old: KubeObject | undefined): readonly Cause[] {
  const causes = checkTemplate(fieldsOf(spec));
  if (!old || isSame(fieldsOf(spec).selector, fieldsOf(old.spec).selector)) return causes;
  const message = `Invalid value: ${JSON.stringify(fieldsOf(spec).selector)}: field is immutable`;
  return [...causes, { reason: 'FieldValueInvalid', field: 'spec.selector', message }];
}

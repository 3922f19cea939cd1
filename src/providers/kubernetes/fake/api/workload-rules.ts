// What the API server never changes in a workload that exists.
import { type Fields, fieldsOf, isSame, type KubeObject } from '../objects/object.ts';
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

export function checkDeployment({ spec }: KubeObject, old: KubeObject | undefined): readonly Cause[] {
  if (!old || isSame(fieldsOf(spec).selector, fieldsOf(old.spec).selector)) return [];
  const message = `Invalid value: ${JSON.stringify(fieldsOf(spec).selector)}: field is immutable`;
  return [{ reason: 'FieldValueInvalid', field: 'spec.selector', message }];
}

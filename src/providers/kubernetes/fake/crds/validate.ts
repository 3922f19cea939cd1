// Checks a custom object against its schema, in the API server's words.
import { type Fields, fieldsOf, isFields, isSame, type KubeObject, listOf } from '../objects/object.ts';
import type { Cause } from '../wire/cause.ts';
import { preserves } from './prune.ts';

type Report = (cause: Cause) => void;

const shown = (value: unknown): string => {
  if (isFields(value)) return '"object"';
  return Array.isArray(value) ? '"array"' : JSON.stringify(value);
};

const bad = (field: string, value: unknown, what: string): Cause => ({
  reason: 'FieldValueInvalid',
  field,
  message: `Invalid value: ${shown(value)}: ${what}`,
});

const typeNameOf = (value: unknown): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
};

function hasType(value: unknown, schema: Fields): boolean {
  const { type } = schema;
  const is = typeNameOf(value);
  if (value === null) return schema.nullable === true;
  if (schema['x-kubernetes-int-or-string'] === true) return is === 'integer' || is === 'string';
  return type === undefined || is === type || (type === 'number' && is === 'integer');
}

const inBody = (field: string, what: string): string => `${field} in body ${what}`;

function checkNumber(value: number, schema: Fields, field: string, report: Report): void {
  const { minimum, maximum, multipleOf } = schema;
  if (typeof minimum === 'number' && (schema.exclusiveMinimum ? value <= minimum : value < minimum)) {
    const word = schema.exclusiveMinimum ? 'greater than' : 'greater than or equal to';
    report(bad(field, value, inBody(field, `should be ${word} ${minimum}`)));
  }
  if (typeof maximum === 'number' && (schema.exclusiveMaximum ? value >= maximum : value > maximum)) {
    const word = schema.exclusiveMaximum ? 'less than' : 'less than or equal to';
    report(bad(field, value, inBody(field, `should be ${word} ${maximum}`)));
  }
  if (typeof multipleOf === 'number' && value % multipleOf !== 0) {
    report(bad(field, value, inBody(field, `should be a multiple of ${multipleOf}`)));
  }
}

function checkText(value: string, { minLength, maxLength, pattern }: Fields, field: string, report: Report): void {
  if (typeof minLength === 'number' && value.length < minLength) {
    report(bad(field, value, inBody(field, `should be at least ${minLength} chars long`)));
  }
  if (typeof maxLength === 'number' && value.length > maxLength) {
    report({ reason: 'FieldValueTooLong', field, message: `Too long: may not be more than ${maxLength} bytes` });
  }
  if (typeof pattern === 'string' && !new RegExp(pattern, 'u').test(value)) {
    report(bad(field, value, inBody(field, `should match '${pattern}'`)));
  }
}

function checkList(value: readonly unknown[], schema: Fields, field: string, report: Report): void {
  const { minItems, maxItems } = schema;
  if (typeof minItems === 'number' && value.length < minItems) {
    report(bad(field, value.length, inBody(field, `should have at least ${minItems} items`)));
  }
  if (typeof maxItems === 'number' && value.length > maxItems) {
    report({
      reason: 'FieldValueTooMany',
      field,
      message: `Too many: ${value.length}: must have at most ${maxItems} items`,
    });
  }
  for (const [index, item] of value.entries()) check(item, fieldsOf(schema.items), `${field}[${index}]`, report);
}

const below = (field: string, key: string): string => (field === '' ? key : `${field}.${key}`);

function checkMap(value: Fields, schema: Fields, field: string, report: Report): void {
  for (const key of listOf(schema.required)) {
    if (typeof key === 'string' && value[key] === undefined) {
      report({ reason: 'FieldValueRequired', field: below(field, key), message: 'Required value' });
    }
  }
  const { minProperties } = schema;
  if (typeof minProperties === 'number' && Object.keys(value).length < minProperties) {
    report(bad(field, value, inBody(field, `should have at least ${minProperties} properties`)));
  }
  for (const [key, one] of Object.entries(value)) {
    const known = fieldsOf(schema.properties)[key] ?? schema.additionalProperties;
    if (isFields(known)) check(one, known, below(field, key), report);
  }
}

function checkEnum(value: unknown, allowed: unknown, field: string, report: Report): void {
  if (!Array.isArray(allowed) || allowed.some((one) => isSame(one, value))) return;
  report({
    reason: 'FieldValueNotSupported',
    field,
    message: `Unsupported value: ${JSON.stringify(value)}: supported values: ${allowed.map((one) => JSON.stringify(one)).join(', ')}`,
  });
}

function check(value: unknown, schema: Fields, field: string, report: Report): void {
  if (!hasType(value, schema)) {
    const is = typeNameOf(value);
    report({
      reason: 'FieldValueTypeInvalid',
      field: field === '' ? '<nil>' : field,
      message: `Invalid value: ${JSON.stringify(is)}: ${inBody(field, `must be of type ${String(schema.type)}: ${JSON.stringify(is)}`)}`,
    });
    return;
  }
  checkEnum(value, schema.enum, field, report);
  if (typeof value === 'number') checkNumber(value, schema, field, report);
  else if (typeof value === 'string') checkText(value, schema, field, report);
  else if (Array.isArray(value)) checkList(value, schema, field, report);
  else if (isFields(value) && !(preserves(schema) && !schema.properties)) checkMap(value, schema, field, report);
}

/** All that is wrong, by path. */
export function checkSchema(object: KubeObject, schema: Fields): readonly Cause[] {
  const causes: Cause[] = [];
  const { metadata: _meta, apiVersion: _version, kind: _kind, ...properties } = fieldsOf(schema.properties);
  const { metadata: _metadata, apiVersion: _v, kind: _k, ...rest } = object;
  check(rest, { ...schema, properties }, '', (cause) => causes.push(cause));
  return causes;
}

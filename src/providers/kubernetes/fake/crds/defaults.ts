import { type Fields, fieldsOf, isFields } from '../objects/object.ts';

/** Fills in the defaults of a schema wherever the object that would hold them is there. */
export function applyDefaults(value: unknown, schema: Fields): unknown {
  if (Array.isArray(value)) return value.map((item) => applyDefaults(item, fieldsOf(schema.items)));
  if (!isFields(value)) return value;
  const properties = fieldsOf(schema.properties);
  const made: Record<string, unknown> = {};
  for (const [key, one] of Object.entries(value)) {
    const known = properties[key] ?? schema.additionalProperties;
    const isUnset = one === null && isFields(known) && known.default !== undefined && known.nullable !== true;
    if (!isUnset) made[key] = isFields(known) ? applyDefaults(one, known) : one;
  }
  for (const [key, known] of Object.entries(properties)) {
    const { default: fallback } = fieldsOf(known);
    if (made[key] === undefined && fallback !== undefined) made[key] = applyDefaults(fallback, fieldsOf(known));
  }
  return made;
}

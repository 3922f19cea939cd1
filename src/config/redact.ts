import { type Schema, shapeOf, unwrap } from './schema-walk.ts';

/** What is shown in place of a secret. */
export const HIDDEN = '[hidden]';

/**
 * A copy of a parsed value in which every secret that its schema knows is hidden; `found` hears each of them.
 * Goes by the keys of the schema, so a kind that transforms its configuration keeps the names of secret keys.
 */
export function redact(schema: Schema, value: unknown, found: (secret: string) => void = () => {}): unknown {
  const unwrapped = unwrap(schema);
  const { def, notes } = unwrapped;
  if (value === undefined || value === null) return value;
  if (notes.secret || notes.hidden) {
    if (typeof value === 'string') found(value);
    return HIDDEN;
  }
  if (def.type === 'union') {
    return def.options.reduce((shown: unknown, option) => redact(option, shown, found), value);
  }
  if (Array.isArray(value))
    return value.map((item) => (def.type === 'array' ? redact(def.element, item, found) : item));
  if (typeof value !== 'object') return value;
  const keys = shapeOf(unwrapped);
  const schemaOf = (key: string): Schema | undefined => (def.type === 'record' ? def.valueType : keys?.[key]);
  const entries = Object.entries(value).map(([key, inner]) => {
    const inside = schemaOf(key);
    return [key, inside ? redact(inside, inner, found) : inner];
  });
  return Object.fromEntries(entries);
}

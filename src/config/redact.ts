import { type Schema, shapeOf, unwrap } from './schema-walk.ts';

/** What is shown in place of a secret. */
export const HIDDEN = '[hidden]';

export interface RedactOptions {
  /** Hears each secret. */
  readonly found?: (secret: string) => void;
  /** Scripts and templates too: they may hold secrets that no schema knows. */
  readonly hidesScripts?: boolean;
}

/**
 * A copy of a parsed value in which every secret that its schema knows is hidden.
 * Goes by the keys of the schema, so a kind that transforms its configuration keeps the names of secret keys.
 */
export function redact(schema: Schema, value: unknown, options: RedactOptions = {}): unknown {
  const unwrapped = unwrap(schema);
  const { def, notes } = unwrapped;
  if (value === undefined || value === null) return value;
  if (notes.secret || notes.hidden) {
    if (typeof value === 'string') options.found?.(value);
    return HIDDEN;
  }
  if (notes.literal && options.hidesScripts) return HIDDEN;
  if (def.type === 'union') {
    return def.options.reduce((shown: unknown, option) => redact(option, shown, options), value);
  }
  if (Array.isArray(value))
    return value.map((item) => (def.type === 'array' ? redact(def.element, item, options) : item));
  if (typeof value !== 'object') return value;
  const keys = shapeOf(unwrapped);
  const schemaOf = (key: string): Schema | undefined => (def.type === 'record' ? def.valueType : keys?.[key]);
  const entries = Object.entries(value).map(([key, inner]) => {
    const inside = schemaOf(key);
    return [key, inside ? redact(inside, inner, options) : inner];
  });
  return Object.fromEntries(entries);
}

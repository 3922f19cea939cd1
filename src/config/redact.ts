import { objectFieldsOf, type Schema, unwrap } from './schema-walk.ts';

/** What is shown in place of a secret. */
export const HIDDEN = '[hidden]';

export interface RedactOptions {
  /** Hears each value that is not shown, with its key; `isSecret` where it is one for certain. */
  readonly found?: (value: string, isSecret: boolean, key: string) => void;
  /** Scripts and templates too: they may hold secrets that no schema knows. */
  readonly hidesScripts?: boolean;
}

/**
 * A copy of a parsed value in which every secret that its schema knows is hidden.
 * Goes by the keys of the schema, so a kind that transforms its configuration keeps the names of secret keys.
 */
export function redact(schema: Schema, value: unknown, options: RedactOptions = {}, at = ''): unknown {
  const unwrapped = unwrap(schema);
  const { def, notes } = unwrapped;
  if (value === undefined || value === null) return value;
  if (notes.secret || notes.hidden) {
    for (const text of textsIn(value)) options.found?.(text, notes.secret === true, at);
    return HIDDEN;
  }
  if (notes.literal && options.hidesScripts) return HIDDEN;
  if (def.type === 'union') {
    return def.options.reduce((shown: unknown, option) => redact(option, shown, options, at), value);
  }
  if (Array.isArray(value))
    return value.map((item) => (def.type === 'array' ? redact(def.element, item, options, at) : item));
  if (typeof value !== 'object') return value;
  const keys = objectFieldsOf(unwrapped);
  const schemaOf = (key: string): Schema | undefined => (def.type === 'record' ? def.valueType : keys?.[key]);
  const entries = Object.entries(value).map(([key, inner]) => {
    const inside = schemaOf(key);
    return [key, inside ? redact(inside, inner, options, key) : inner];
  });
  return Object.fromEntries(entries);
}

function* textsIn(value: unknown): Iterable<string> {
  if (typeof value === 'string') yield value;
  else if (typeof value === 'object' && value !== null) for (const inner of Object.values(value)) yield* textsIn(inner);
}

const known = new WeakMap<Schema, boolean>();

/** Whether a schema knows any secret: ten thousand configurations without one need not be looked through. */
export function hasSecrets(schema: Schema): boolean {
  const before = known.get(schema);
  if (before !== undefined) return before;
  // A schema that holds itself has no more secrets for that.
  known.set(schema, false);
  const unwrapped = unwrap(schema);
  const { def, notes } = unwrapped;
  const inside = [
    ...Object.values(objectFieldsOf(unwrapped) ?? {}),
    ...(def.type === 'union' ? def.options : []),
    ...(def.type === 'array' ? [def.element] : []),
    ...(def.type === 'record' ? [def.valueType] : []),
  ];
  const has = notes.secret === true || notes.hidden === true || inside.some(hasSecrets);
  known.set(schema, has);
  return has;
}

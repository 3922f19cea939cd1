import { toSnake } from '../src/config/keys.ts';
import { defOf, objectFieldsOf, type Schema, type Unwrapped, unwrap } from '../src/config/schema-walk.ts';
import { DURATION_PATTERN } from '../src/core/schema.ts';

/** One key of a schema, as the reference shows it. */
export interface KeyRow {
  readonly key: string;
  readonly type: string;
  readonly fallback: string;
  readonly meaning: string;
}

/** All keys of an object schema, nested ones with their path; keys named in `apart` are described elsewhere. */
export function schemaRows(schema: Schema, path = '', apart: readonly string[] = []): readonly KeyRow[] {
  const keys = objectFieldsOf(unwrap(schema)) ?? {};
  return Object.entries(keys).flatMap(([key, inner]) => {
    const written = path + toSnake(key);
    const row = { key: written, type: typeOf(inner), fallback: fallbackOf(inner), meaning: meaningOf(unwrap(inner)) };
    return apart.includes(written) ? [row] : [row, ...nestedRows(inner, written, apart)];
  });
}

function nestedRows(schema: Schema, path: string, apart: readonly string[]): readonly KeyRow[] {
  const { def } = unwrap(schema);
  if (def.type === 'array') return nestedRows(def.element, `${path}[]`, apart);
  return schemaRows(schema, `${path}.`, apart);
}

function meaningOf({ notes }: Unwrapped): string {
  const parts = [notes.description ?? ''];
  if (notes.unused !== undefined) parts.push(`No effect: ${notes.unused}.`);
  if (notes.secret) parts.push('Secret.');
  return parts.filter(Boolean).join(' ');
}

const NAMES: Readonly<Record<string, string>> = {
  string: 'text',
  boolean: 'true or false',
  record: 'map',
  object: 'map',
  intersection: 'map',
  unknown: 'anything',
  any: 'anything',
};

function typeOf(schema: Schema): string {
  const { def, notes } = unwrap(schema);
  if ((notes as { pattern?: string }).pattern === DURATION_PATTERN) return 'duration';
  const choices = (notes as { enum?: readonly unknown[] }).enum;
  if (choices)
    return choices
      .filter((choice) => /^[a-z]/.test(String(choice)))
      .map((choice) => `\`${choice}\``)
      .join(', ');
  if (def.type === 'enum')
    return Object.values(def.entries)
      .map((value) => `\`${value}\``)
      .join(', ');
  if (def.type === 'literal') return def.values.map((value) => `\`${String(value)}\``).join(', ');
  if (def.type === 'array') return `list of ${typeOf(def.element)}`;
  if (def.type === 'union') return [...new Set(def.options.map(typeOf))].join(' or ');
  if (def.type === 'number') return isWhole(def) ? 'whole number' : 'number';
  return NAMES[def.type] ?? def.type;
}

/** z.int() and its like carry the name of their format. */
const isWhole = (def: object): boolean => 'format' in def && /int/.test(String(def.format));

/** What holds where the key is left out. */
function fallbackOf(schema: Schema): string {
  const { notes } = unwrap(schema);
  if (notes.defaultText !== undefined) return notes.defaultText;
  const value = defaultOf(schema);
  if (value === undefined) return schema._zod.optin === 'optional' ? '' : 'required';
  const isEmpty = typeof value === 'object' && value !== null && Object.keys(value).length === 0;
  return isEmpty ? '' : `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
}

function defaultOf(schema: Schema): unknown {
  const def = defOf(schema);
  if (def.type === 'default' || def.type === 'prefault') return def.defaultValue;
  if (def.type === 'optional' || def.type === 'nullable' || def.type === 'readonly') return defaultOf(def.innerType);
  return undefined;
}

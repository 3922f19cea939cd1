// The way back from what a schema made of a value to what a user would write.
import { z } from 'zod';
import { formatDuration } from '#core/duration.ts';
import { DURATION_PATTERN, type SchemaNotes } from '#core/schema.ts';
import { canonicalJson } from './canonical.ts';
import { escapeVariables } from './expand.ts';
import { joinPath, toSnake } from './keys.ts';
import { catchallOf, objectFieldsOf, type Schema, type Unwrapped, unwrap } from './schema-walk.ts';

export interface WriteOptions {
  /** Hears the path of each value that is not written, since it is secret. Absent: secrets are written too. */
  readonly leaveOut?: ((path: string) => void) | undefined;
  /** Scripts and templates count as secrets: they may hold some that no schema knows. */
  readonly hidesScripts?: boolean | undefined;
}

interface TextPlace extends WriteOptions {
  readonly path: string;
}

const ANYTHING = z.unknown();

/**
 * What reads back as this value: keys in snake_case, durations as texts, `${` escaped; what the schema would set by
 * itself is left out. A kind whose schema changes its values in other ways cannot be written so: compare.
 */
export function writeValue(schema: Schema, value: unknown, options: WriteOptions = {}): unknown {
  return write(schema, value, { ...options, path: '' });
}

function write(schema: Schema, value: unknown, place: TextPlace): unknown {
  if (value === undefined || value === null) return undefined;
  const unwrapped = unwrap(schema);
  const { def, notes } = unwrapped;
  if (isHidden(notes, place)) {
    place.leaveOut?.(place.path);
    return undefined;
  }
  if (notes.literal || notes.unused !== undefined) return value;
  if (typeof value === 'number' && isDuration(notes)) return formatDuration(value);
  if (typeof value === 'string') return escapeVariables(value);
  if (typeof value !== 'object') return value;
  if (def.type === 'union') return write(optionFor(def.options, value), value, place);
  return Array.isArray(value) ? writeList(unwrapped, value, place) : writeMap(unwrapped, value, place);
}

const isHidden = ({ secret, hidden, literal }: SchemaNotes, { leaveOut, hidesScripts }: TextPlace): boolean =>
  leaveOut !== undefined && Boolean(secret || hidden || (literal && hidesScripts));

const isDuration = (notes: object): boolean => (notes as { pattern?: string }).pattern === DURATION_PATTERN;

/** The option that could have made it: a list for a list, an object that knows all its keys. */
function optionFor(options: readonly Schema[], value: object): Schema {
  const fits = (option: Schema): boolean => {
    const unwrapped = unwrap(option);
    if (Array.isArray(value)) return unwrapped.def.type === 'array';
    const keys = objectFieldsOf(unwrapped);
    return keys ? Object.keys(value).every((key) => key in keys) : unwrapped.def.type === 'record';
  };
  return options.find(fits) ?? ANYTHING;
}

function writeList({ def }: Unwrapped, items: readonly unknown[], place: TextPlace): unknown[] {
  const element = def.type === 'array' ? def.element : ANYTHING;
  return items.flatMap((item, at) => write(element, item, { ...place, path: joinPath(place.path, at) }) ?? []);
}

function writeMap(unwrapped: Unwrapped, value: object, place: TextPlace): Record<string, unknown> {
  const keys = objectFieldsOf(unwrapped);
  const { def } = unwrapped;
  const others = (def.type === 'record' ? def.valueType : catchallOf(unwrapped)) ?? ANYTHING;
  const written = Object.entries(value).flatMap(([key, inner]): [string, unknown][] => {
    const known = keys?.[key];
    if (known && isDefault(known, inner)) return [];
    const name = known ? toSnake(key) : key;
    const what = write(known ?? others, inner, { ...place, path: joinPath(place.path, name) });
    return what === undefined ? [] : [[name, what]];
  });
  return Object.fromEntries(written);
}

function isDefault(schema: Schema, value: unknown): boolean {
  const set = z.safeParse(schema, undefined);
  return set.success && canonicalJson(set.data) === canonicalJson(value);
}

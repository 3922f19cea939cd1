// Unknown fields of custom objects are dropped, unless their schema preserves them.
import { type Fields, fieldsOf, isFields, type KubeObject } from '../objects/object.ts';

export const preserves = (schema: Fields): boolean => schema['x-kubernetes-preserve-unknown-fields'] === true;

const ROOT = new Set(['apiVersion', 'kind', 'metadata']);

interface Walk {
  readonly unknown: string[];
}

const below = (path: string, key: string): string => (path === '' ? key : `${path}.${key}`);

function keepField(
  key: string,
  value: unknown,
  schema: Fields,
  path: string,
  walk: Walk,
): readonly [string, unknown][] {
  const known = fieldsOf(schema.properties)[key] ?? schema.additionalProperties;
  const at = below(path, key);
  if (isFields(known)) return [[key, prune(value, known, at, walk)]];
  if (known === true || preserves(schema)) return [[key, value]];
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true && ROOT.has(key);
  if (isEmbedded) return [[key, value]];
  walk.unknown.push(at);
  return [];
}

function prune(value: unknown, schema: Fields, path: string, walk: Walk): unknown {
  if (Array.isArray(value)) {
    const items = fieldsOf(schema.items);
    return value.map((item, index) => prune(item, items, `${path}[${index}]`, walk));
  }
  if (!isFields(value)) return value;
  return Object.fromEntries(Object.entries(value).flatMap(([key, one]) => keepField(key, one, schema, path, walk)));
}

/** The object without what its schema does not know, and the paths of that. */
export function pruneUnknown(object: KubeObject, schema: Fields): { value: unknown; unknown: readonly string[] } {
  const walk: Walk = { unknown: [] };
  const { apiVersion, kind, metadata, ...rest } = object;
  const { metadata: _own, ...properties } = fieldsOf(schema.properties);
  const value = prune(rest, { ...schema, properties }, '', walk);
  return { value: { apiVersion, kind, metadata, ...fieldsOf(value) }, unknown: walk.unknown };
}

// Who owns which field of an object, kept in its `managedFields`.
import { apiVersionOf, type Resource } from '../api/resource.ts';
import { compact, type KubeObject, type ManagedFields, OWNER_KEY, timestamp } from '../objects/object.ts';
import { decodeSet, differences, encodeSet, type FieldSet, leavesOf } from './field-set.ts';

/** Who writes, and how. */
export interface Writer {
  readonly owner: string;
  readonly operation: 'Apply' | 'Update';
  readonly subresource: string | undefined;
  readonly nowMs: number;
}

export interface Ownership {
  readonly entry: ManagedFields;
  readonly set: FieldSet;
}

export const ownershipOf = ({ metadata }: KubeObject): Ownership[] =>
  (metadata.managedFields ?? []).map((entry) => ({ entry, set: decodeSet(entry.fieldsV1) }));

export const isOwnedBy = ({ entry }: Ownership, { owner, operation, subresource }: Writer): boolean =>
  entry[OWNER_KEY] === owner && entry.operation === operation && entry.subresource === subresource;

export const without = (set: FieldSet, gone: FieldSet): Set<string> =>
  new Set([...set].filter((path) => !gone.has(path)));

function entryOf(resource: Resource, { owner, operation, subresource, nowMs }: Writer, set: FieldSet): ManagedFields {
  return compact({
    [OWNER_KEY]: owner,
    operation,
    apiVersion: apiVersionOf(resource),
    time: timestamp(nowMs),
    fieldsType: 'FieldsV1' as const,
    fieldsV1: encodeSet(set),
    subresource,
  }) as ManagedFields;
}

/** The object with the writer as owner of these fields; entries without a field go. */
export function withOwner(
  object: KubeObject,
  resource: Resource,
  others: readonly Ownership[],
  writer: Writer,
  own: FieldSet,
): KubeObject {
  const kept = others
    .filter(({ set }) => set.size > 0)
    .map(({ entry, set }) => ({ ...entry, fieldsV1: encodeSet(set) }));
  const managedFields = own.size > 0 ? [...kept, entryOf(resource, writer, own)] : kept;
  return { ...object, metadata: { ...object.metadata, managedFields } };
}

/** After a create, update or patch: what was changed belongs to its writer alone. */
export function noteUpdate(
  old: KubeObject | undefined,
  made: KubeObject,
  resource: Resource,
  writer: Writer,
): KubeObject {
  const before = old ? leavesOf(old, resource, writer.subresource) : new Map<string, unknown>();
  const { changed, removed } = differences(before, leavesOf(made, resource, writer.subresource));
  // A write may say who owns what, as kubectl does when it moves on to server-side apply.
  const all = ownershipOf(old && !made.metadata.managedFields?.length ? old : made);
  const gone = new Set([...changed, ...removed]);
  const mine = all.find((one) => isOwnedBy(one, writer));
  const others = all.filter((one) => one !== mine).map(({ entry, set }) => ({ entry, set: without(set, gone) }));
  if (changed.size === 0 && mine) others.push({ entry: mine.entry, set: without(mine.set, removed) });
  const own =
    changed.size === 0 ? new Set<string>() : new Set([...without(mine?.set ?? new Set(), removed), ...changed]);
  return withOwner(made, resource, others, writer, own);
}

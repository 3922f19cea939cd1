// What a CustomResourceDefinition makes the API server serve.
import { AGE, column, NAME } from '../api/columns.ts';
import { ageOf } from '../api/human-duration.ts';
import type { Column, ListRule, Resource } from '../api/resource.ts';
import { type Fields, fieldsOf, type KubeObject, listOf, textOf } from '../objects/object.ts';
import { valuesAt } from './json-path.ts';

function printerColumn(written: Fields): Column {
  const path = textOf(written.jsonPath);
  const type = textOf(written.type) || 'string';
  const cell: Column['cell'] = (object, nowMs) => {
    const [value] = valuesAt(object, path);
    if (value === undefined) return type === 'date' ? '<unknown>' : null;
    if (type === 'date') return ageOf(value, nowMs);
    return typeof value === 'object' ? JSON.stringify(value) : type === 'string' ? String(value) : value;
  };
  return {
    ...column(textOf(written.name), cell, { type, priority: Number(written.priority ?? 0) }),
    description: textOf(written.description),
  };
}

const META_LISTS: Readonly<Record<string, ListRule>> = { finalizers: 'set', ownerReferences: { keys: ['uid'] } };

/** The schema of the list at a path; items of lists on the way are passed through. */
function schemaAt(schema: Fields, path: readonly string[]): Fields {
  let at: Fields = schema;
  for (const key of path) {
    const holder = at.type === 'array' ? fieldsOf(at.items) : at;
    at = fieldsOf(fieldsOf(holder.properties)[key] ?? holder.additionalProperties);
  }
  return at;
}

/** By what the schema says of its lists; finalizers and owners are the same everywhere. */
function schemaListRule(schema: Fields): (path: readonly string[]) => ListRule {
  return (path) => {
    if (path[0] === 'metadata') return META_LISTS[path[1] ?? ''];
    const at = schemaAt(schema, path);
    const kind = at['x-kubernetes-list-type'];
    if (kind === 'set') return 'set';
    return kind === 'map' ? { keys: listOf(at['x-kubernetes-list-map-keys']).map(textOf) } : undefined;
  };
}

/** One for each version that is served, that of the storage first. */
export function resourcesOf(definition: KubeObject): readonly Resource[] {
  const spec = fieldsOf(definition.spec);
  const names = fieldsOf(spec.names);
  const versions = listOf(spec.versions)
    .map(fieldsOf)
    .filter(({ served }) => served === true);
  return versions
    .toSorted((a, b) => Number(b.storage === true) - Number(a.storage === true))
    .map((version) => {
      const schema = fieldsOf(fieldsOf(version.schema).openAPIV3Schema);
      const columns = listOf(version.additionalPrinterColumns).map(fieldsOf);
      const subresources = fieldsOf(version.subresources);
      return {
        group: textOf(spec.group),
        version: textOf(version.name),
        plural: textOf(names.plural),
        singular: textOf(names.singular) || textOf(names.kind).toLowerCase(),
        kind: textOf(names.kind),
        listKind: textOf(names.listKind) || `${textOf(names.kind)}List`,
        shortNames: listOf(names.shortNames).map(textOf),
        categories: listOf(names.categories).map(textOf),
        isNamespaced: spec.scope === 'Namespaced',
        hasStatus: subresources.status !== undefined,
        countsGenerations: true,
        isCustom: true,
        columns: columns.length > 0 ? [NAME, ...columns.map(printerColumn)] : [NAME, AGE],
        selectable: listOf(version.selectableFields).map((field) =>
          textOf(fieldsOf(field).jsonPath).split('.').filter(Boolean),
        ),
        schema,
        listRule: schemaListRule(schema),
      };
    });
}

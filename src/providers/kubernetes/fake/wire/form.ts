// The forms in which objects are shown: whole, as rows of a table, or their metadata alone.
import { apiVersionOf, type Column, type Resource } from '../api/resource.ts';
import { compact, type Fields, type KubeObject, textOfObject } from '../objects/object.ts';

/** Writes one object, or a list of them, as the client asked. */
export interface Form {
  object(object: KubeObject): string;
  list(objects: readonly KubeObject[], metadata: Fields): string;
}

const CONVERTED = new WeakMap<KubeObject, Map<string, KubeObject>>();

/** An object in the version that is asked for. */
export function served(resource: Resource, object: KubeObject): KubeObject {
  const apiVersion = apiVersionOf(resource);
  if (object.apiVersion === apiVersion) return object;
  const known = CONVERTED.get(object) ?? new Map<string, KubeObject>();
  CONVERTED.set(object, known);
  const made = known.get(apiVersion) ?? resource.conversion?.toServed(object) ?? { ...object, apiVersion };
  known.set(apiVersion, made);
  return made;
}

const whole = (resource: Resource): Form => ({
  object: (object) => textOfObject(served(resource, object)),
  list: (objects, metadata) => {
    const head = JSON.stringify({ kind: resource.listKind, apiVersion: apiVersionOf(resource), metadata });
    const items = objects.map((object) => textOfObject(served(resource, object)));
    return `${head.slice(0, -1)},"items":[${items.join(',')}]}`;
  },
});

const metadataOf = ({ metadata }: KubeObject): Fields => ({
  kind: 'PartialObjectMetadata',
  apiVersion: 'meta.k8s.io/v1',
  metadata,
});

const partial: Form = {
  object: (object) => JSON.stringify(metadataOf(object)),
  list: (objects, metadata) =>
    JSON.stringify({
      kind: 'PartialObjectMetadataList',
      apiVersion: 'meta.k8s.io/v1',
      metadata,
      items: objects.map(metadataOf),
    }),
};

function rowObject(include: string, resource: Resource, object: KubeObject): Fields | undefined {
  if (include === 'None') return undefined;
  return include === 'Object' ? served(resource, object) : metadataOf(object);
}

const definition = ({ name, type, format = '', description = '', priority }: Column): Fields => ({
  name,
  type,
  format,
  description,
  priority,
});

function table(resource: Resource, include: string, nowMs: number): Form {
  const write = (objects: readonly KubeObject[], metadata: Fields): string =>
    JSON.stringify({
      kind: 'Table',
      apiVersion: 'meta.k8s.io/v1',
      metadata,
      columnDefinitions: resource.columns.map(definition),
      rows: objects.map((object) =>
        compact({
          cells: resource.columns.map(({ cell }) => cell(served(resource, object), nowMs)),
          object: rowObject(include, resource, object),
        }),
      ),
    });
  return {
    object: (object) => write([object], { resourceVersion: object.metadata.resourceVersion }),
    list: write,
  };
}

/** What the `Accept` header asks for; the first part that is known counts. */
export function formOf(resource: Resource, accept: string, query: URLSearchParams, nowMs: number): Form {
  const parts = accept.split(',').map((part) => /;\s*as=(\w+)/.exec(part)?.[1] ?? '');
  const first = parts.find((as) => ['', 'Table', 'PartialObjectMetadata', 'PartialObjectMetadataList'].includes(as));
  if (first === 'Table') return table(resource, query.get('includeObject') ?? 'Metadata', nowMs);
  return first ? partial : whole(resource);
}

export const jsonResponse = (text: string, status = 200, headers: Readonly<Record<string, string>> = {}): Response =>
  new Response(text, { status, headers: { 'content-type': 'application/json', ...headers } });

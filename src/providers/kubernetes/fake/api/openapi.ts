// OpenAPI v3 as far as kubectl asks: which kinds may be patched with field validation, and the schemas of custom resources.
import type { Fields } from '../objects/object.ts';
import { groupsOf } from './discovery.ts';
import type { Resource } from './resource.ts';

const pathOf = (group: string, version: string): string =>
  group === '' ? `api/${version}` : `apis/${group}/${version}`;

/** `/openapi/v3`. */
export function openapiIndex(all: readonly Resource[]): Fields {
  const groups: (readonly [string, readonly string[]])[] = [['', ['v1']], ...groupsOf(all)];
  const paths = groups.flatMap(([group, versions]) => versions.map((version) => pathOf(group, version)));
  return { paths: Object.fromEntries(paths.map((path) => [path, { serverRelativeURL: `/openapi/v3/${path}` }])) };
}

const parameter = (name: string, type = 'string'): Fields => ({
  name,
  in: 'query',
  schema: { type, uniqueItems: true },
});

const PARAMETERS = [
  parameter('dryRun'),
  parameter('fieldManager'),
  parameter('fieldValidation'),
  parameter('force', 'boolean'),
];

const kindOf = ({ group, version, kind }: Resource): Fields => ({ group, version, kind });

function operation(resource: Resource, action: string): Fields {
  return {
    operationId: `${action}${resource.kind}`,
    parameters: PARAMETERS,
    responses: { '200': { description: 'OK' } },
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': kindOf(resource),
  };
}

const schemaName = ({ group, version, kind }: Resource): string =>
  `${(group || 'io.k8s.api.core').split('.').toReversed().join('.')}.${version}.${kind}`;

const schemaOf = (resource: Resource): Fields => ({
  type: 'object',
  ...resource.schema,
  'x-kubernetes-group-version-kind': [kindOf(resource)],
});

/** `/openapi/v3/apis/G/V`; undefined if that is not served. */
export function openapiDocument(all: readonly Resource[], path: string): Fields | undefined {
  const resources = all.filter(({ group, version }) => pathOf(group, version) === path);
  if (resources.length === 0) return undefined;
  const paths = resources.flatMap((resource) => {
    const root = `/${path}/${resource.isNamespaced ? 'namespaces/{namespace}/' : ''}${resource.plural}`;
    return [
      [root, { post: operation(resource, 'post') }],
      [`${root}/{name}`, { put: operation(resource, 'put'), patch: operation(resource, 'patch') }],
    ];
  });
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: 'v1.32.4' },
    paths: Object.fromEntries(paths),
    components: { schemas: Object.fromEntries(resources.map((one) => [schemaName(one), schemaOf(one)])) },
  };
}

const field = (tag: number, content: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from([tag, content.byteLength]), content]);
const text = (tag: number, value: string): Buffer => field(tag, Buffer.from(value));

// The fields 1 (swagger), 2 (info: title, version) and 8 (paths) of gnostic's openapi.v2.Document.
const EMPTY_DOCUMENT = Buffer.concat([
  text(0x0a, '2.0'),
  field(0x12, Buffer.concat([text(0x0a, 'Kubernetes'), text(0x12, 'v1.32.4')])),
  field(0x42, new Uint8Array()),
]);

/** `/openapi/v2` without any schema: kubectl then leaves the checks to the server. It reads it only as a protobuf. */
export const openapiV2 = (): Response =>
  new Response(EMPTY_DOCUMENT, {
    headers: { 'content-type': 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf' },
  });

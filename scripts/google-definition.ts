// Writes what the fake Google Cloud checks requests against, from Google's discovery documents:
//   pip download --no-deps google-api-python-client==2.202.0 && unzip google_api_python_client-*.whl -d FOLDER
//   node scripts/google-definition.ts FOLDER
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MethodDefinition } from '#fakes/check-request.ts';
import { writeDefinition } from './write-definition.ts';

interface Discovered {
  readonly type?: string;
  readonly format?: string;
  readonly pattern?: string;
  readonly enum?: readonly string[];
  readonly $ref?: string;
  readonly items?: Discovered;
  readonly properties?: Readonly<Record<string, Discovered>>;
  readonly additionalProperties?: Discovered;
  readonly annotations?: { readonly required?: readonly string[] };
}

interface Parameter extends Discovered {
  readonly location?: string;
  readonly required?: boolean;
  readonly repeated?: boolean;
}

interface Method {
  readonly id: string;
  readonly description?: string;
  readonly parameters?: Readonly<Record<string, Parameter>>;
  readonly request?: { readonly $ref: string };
}

interface Resource {
  readonly methods?: Readonly<Record<string, Method>>;
  readonly resources?: Readonly<Record<string, Resource>>;
}

interface Discovery extends Resource {
  readonly version: string;
  readonly name: string;
  readonly revision: string;
  readonly parameters: Readonly<Record<string, Parameter>>;
  readonly schemas: Readonly<Record<string, Discovered>>;
}

interface Wanted {
  readonly methods: readonly string[];
  readonly withoutBody?: boolean;
  /** Absent: 1. */
  readonly version?: number;
  /** Its clients write the numbers of enumerations, as proto-JSON allows. */
  readonly hasNumbers?: boolean;
}

// By document: the methods that the providers and Google's own clients call on the fake. Of those that only the clients
// call the bodies are left out.
const WANTED: Readonly<Record<string, Wanted>> = {
  compute: {
    methods: [
      ...['zones.list', 'regions.list', 'machineTypes.list', 'machineTypes.get'],
      ...['instanceTemplates', 'regionInstanceTemplates'].flatMap((one) =>
        ['get', 'insert', 'delete'].map((name) => `${one}.${name}`),
      ),
      ...['instanceGroupManagerResizeRequests', 'regionInstanceGroupManagerResizeRequests'].flatMap((one) =>
        ['list', 'get', 'insert', 'cancel', 'delete'].map((name) => `${one}.${name}`),
      ),
      ...['zoneOperations', 'regionOperations', 'globalOperations'].flatMap((one) => [`${one}.get`, `${one}.wait`]),
      ...['instanceGroupManagers', 'regionInstanceGroupManagers'].flatMap((one) =>
        ['get', 'list', 'insert', 'delete', 'listManagedInstances', 'createInstances', 'deleteInstances'].map(
          (name) => `${one}.${name}`,
        ),
      ),
      ...['aggregatedList', 'list', 'get', 'delete', 'bulkInsert', 'stop', 'start'].map((name) => `instances.${name}`),
      'instanceGroupManagers.aggregatedList',
      'images.getFromFamily',
      'images.get',
      'images.list',
      'images.insert',
      'images.delete',
      'disks.aggregatedList',
      'disks.delete',
    ],
  },
  container: {
    methods: [
      ...['get', 'list'].map((name) => `projects.locations.clusters.${name}`),
      ...['list', 'get', 'create', 'delete'].map((name) => `projects.locations.clusters.nodePools.${name}`),
      'projects.locations.operations.get',
    ],
  },
  run: {
    version: 2,
    hasNumbers: true,
    methods: [
      ...['create', 'get', 'list', 'delete'].map((name) => `projects.locations.services.${name}`),
      ...['list', 'get'].map((name) => `projects.locations.services.revisions.${name}`),
      ...['get', 'wait'].map((name) => `projects.locations.operations.${name}`),
    ],
  },
  iamcredentials: { methods: ['projects.serviceAccounts.generateAccessToken'] },
  storage: {
    methods: ['buckets.list', 'buckets.insert', 'buckets.get', 'objects.list', 'objects.get', 'objects.delete'].concat(
      'objects.insert',
    ),
    withoutBody: true,
  },
};

// What a bulkInsert makes needs what an insert needs; the annotations name the latter alone.
const REQUIRED_BY = ['compute.instances.insert'];

const folder = process.argv[2];
if (folder === undefined) throw new Error('Name the folder of the unpacked package.');
const [info = ''] = readdirSync(folder).filter((name) => name.endsWith('.dist-info'));
const [, release = ''] = /^google_api_python_client-(.+)\.dist-info$/.exec(info) ?? [];

/** Clients of today write the parameters that all methods have with a sign before them: cloud.google.com/apis/docs/system-parameters. */
const asSystem = (parameters: Discovery['parameters']): Discovery['parameters'] =>
  Object.fromEntries(
    Object.entries(parameters).flatMap(([name, { location }]) =>
      name.startsWith('$') ? [] : [[`$${name}`, { type: 'string', ...(location !== undefined && { location }) }]],
    ),
  );

/** The description of a listing recommends a parameter that older documents have, and gcloud sends. */
const described = (description: string): Discovery['parameters'] =>
  description.includes('`returnPartialSuccess`')
    ? { returnPartialSuccess: { type: 'boolean', location: 'query' } }
    : {};

/** Numbers may be sent as text, those of 64 bits are described as text. */
const INTEGER = { anyOf: [{ type: 'integer' }, { type: 'string', pattern: '^-?[0-9]+$' }] };

interface Reading {
  readonly hasNumbers: boolean;
  refer(name: string): string;
}

const enumOf = (names: readonly string[], { hasNumbers }: Reading): object =>
  hasNumbers ? { anyOf: [{ enum: names }, { type: 'integer' }] } : { enum: names };

function schemaOf(field: Discovered, reading: Reading): object {
  const { refer } = reading;
  const { type, format, pattern, items, properties, additionalProperties } = field;
  if (field.$ref !== undefined) return { $ref: `#/$defs/${refer(field.$ref)}` };
  if (type === 'integer' || format?.includes('int')) return INTEGER;
  if (type === 'array') return { type, items: schemaOf(items ?? {}, reading) };
  if (type === 'object' && additionalProperties)
    return { type, additionalProperties: schemaOf(additionalProperties, reading) };
  if (type === 'object') {
    const entries = Object.entries(properties ?? {});
    const required = entries.flatMap(([name, one]) =>
      one.annotations?.required?.some((id) => REQUIRED_BY.includes(id)) ? name : [],
    );
    return {
      type,
      properties: Object.fromEntries(entries.map(([name, one]) => [name, schemaOf(one, reading)])),
      ...(required.length > 0 && { required }),
      additionalProperties: false,
    };
  }
  if (field.enum) return enumOf(field.enum, reading);
  if (type === undefined || type === 'any') return {};
  return { type, ...(pattern !== undefined && { pattern: `^(?:${pattern})$` }) };
}

function methodIn(document: Resource, path: readonly string[]): Method {
  const [first = '', ...rest] = path;
  if (rest.length === 0) return document.methods?.[first] as Method;
  return methodIn(document.resources?.[first] as Resource, rest);
}

const methods: Record<string, MethodDefinition> = {};
const defs: Record<string, object> = {};
const sources: string[] = [];

for (const [name, { methods: wanted, withoutBody = false, version = 1, hasNumbers = false }] of Object.entries(
  WANTED,
)) {
  const file = join(folder, 'googleapiclient/discovery_cache/documents', `${name}.v${version}.json`);
  const document = JSON.parse(readFileSync(file, 'utf8')) as Discovery;
  sources.push(`${name} v${version} of ${document.revision}`);

  const refer = (schema: string): string => {
    if (defs[schema] === undefined) {
      defs[schema] = {};
      defs[schema] = schemaOf(document.schemas[schema] ?? {}, { hasNumbers, refer });
    }
    return schema;
  };

  for (const path of wanted) {
    const { id, description = '', parameters = {}, request } = methodIn(document, path.split('.'));
    const inQuery = Object.entries({
      ...document.parameters,
      ...asSystem(document.parameters),
      ...described(description),
      ...parameters,
    }).filter(([, one]) => one.location === 'query');
    const required = inQuery.flatMap(([key, one]) => (one.required ? key : []));
    const query = inQuery.map(([key, { type, enum: values, repeated }]) => {
      const own = values && !repeated ? { enum: values } : { type };
      return [key, repeated ? { type: 'array' } : own] as const;
    });
    methods[id] = {
      query: Object.fromEntries(query),
      ...(required.length > 0 && { required }),
      ...(request && !withoutBody && { body: { $ref: `#/$defs/${refer(request.$ref)}` } }),
    };
  }
}

writeDefinition(
  {
    provider: 'gcp',
    from: `google-api-python-client ${release} (PyPI; ${sources.join(', ')})`,
    command: 'node scripts/google-definition.ts <its wheel, unpacked>',
  },
  { methods, $defs: defs },
);

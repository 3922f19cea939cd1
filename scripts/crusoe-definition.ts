// Crusoe publishes version 1 of its API as a Swagger document, in github.com/crusoecloud/client-go. Check it out, and run
//   node scripts/crusoe-definition.ts <its swagger.json> <its commit>
import { readFileSync } from 'node:fs';
import type { MethodDefinition } from '#fakes/check-request.ts';
import { neededDefs, writeDefinition } from './write-definition.ts';

const POOLS = '/projects/{project_id}/kubernetes/nodepools';
const VMS = '/projects/{project_id}/compute/vms';

/** The actions of the fake, by method and path. */
const ACTIONS: Readonly<Record<string, readonly [method: string, path: string]>> = {
  'pools.list': ['get', POOLS],
  'pools.create': ['post', POOLS],
  'pools.get': ['get', `${POOLS}/{node_pool_id}`],
  'pools.patch': ['patch', `${POOLS}/{node_pool_id}`],
  'pools.delete': ['delete', `${POOLS}/{node_pool_id}`],
  'pools.vms': ['get', `${POOLS}/{node_pool_id}/vms`],
  'pools.operations': ['get', `${POOLS}/operations`],
  'pools.operation': ['get', `${POOLS}/operations/{operation_id}`],
  'vms.types': ['get', `${VMS}/types`],
  'vms.get': ['get', `${VMS}/instances/{vm_id}`],
  'vms.delete': ['delete', `${VMS}/instances/{vm_id}`],
};

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly maxLength?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema;
  /** Named as required, and not. */
  readonly 'x-redocly-optional'?: boolean;
}

interface Operation {
  readonly parameters?: readonly {
    readonly in: string;
    readonly name: string;
    readonly type?: string;
    readonly required?: boolean;
    readonly schema?: Schema;
  }[];
  readonly responses: Readonly<Record<string, { readonly $ref: string }>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly definitions: Readonly<Record<string, Schema>>;
  readonly responses: Readonly<Record<string, { readonly schema?: Schema }>>;
}

const [file = '', commit = ''] = process.argv.slice(2);
const document = JSON.parse(readFileSync(file, 'utf8')) as Document;

const nameIn = (ref: string): string => ref.split('/').at(-1) ?? '';

/** Without texts, and with no fields but those that are named. */
function schemaOf(given: Schema): object {
  const { $ref, type, properties, items, additionalProperties } = given;
  if ($ref !== undefined) return { $ref: `#/$defs/${nameIn($ref)}` };
  const required = (given.required ?? []).filter((name) => !properties?.[name]?.['x-redocly-optional']);
  return {
    ...(type !== undefined && { type }),
    ...(given.enum && { enum: given.enum }),
    ...(given.maxLength !== undefined && { maxLength: given.maxLength }),
    ...(items && { items: schemaOf(items) }),
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, schemaOf(one)])),
      additionalProperties: false,
    }),
    ...(additionalProperties && { additionalProperties: schemaOf(additionalProperties) }),
    ...(required.length > 0 && { required }),
  };
}

/** What is sent, and under `<action> answer` what is answered. */
function methodsOf(action: string, [method, path]: readonly [string, string]): [string, MethodDefinition][] {
  const { parameters = [], responses } = (document.paths[path] as Readonly<Record<string, Operation>>)[
    method
  ] as Operation;
  const inQuery = parameters.filter((one) => one.in === 'query');
  const body = parameters.find((one) => one.in === 'body')?.schema;
  const answer = document.responses[nameIn(responses['200']?.$ref ?? '')]?.schema;
  return [
    [
      action,
      {
        query: Object.fromEntries(
          inQuery.map(({ name, type }) => [name, { type: type === 'array' ? 'string' : type }]),
        ),
        ...(body && { body: schemaOf(body) }),
      },
    ],
    [`${action} answer`, { query: {}, ...(answer && { body: schemaOf(answer) }) }],
  ];
}

const methods = Object.fromEntries(Object.entries(ACTIONS).flatMap(([action, at]) => methodsOf(action, at)));
const defOf = (name: string): object => schemaOf(document.definitions[name] ?? {});

writeDefinition(
  {
    provider: 'crusoe',
    from: `github.com/crusoecloud/client-go at ${commit} (MIT)`,
    command: 'node scripts/crusoe-definition.ts <its swagger.json> <its commit>',
  },
  { methods, $defs: neededDefs(methods, defOf) },
);

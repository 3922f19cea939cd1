// DigitalOcean publishes the OpenAPI document of its API as github.com/digitalocean/openapi. Check it out, and run
//   node scripts/digitalocean-definition.ts <its folder> <its commit>
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import type { MethodDefinition } from '#fakes/check-request.ts';
import { writeDefinition } from './write-definition.ts';

/** The actions of the fake, by the files of the operations. */
const OPERATIONS: Readonly<Record<string, string>> = {
  account: 'account/account_get',
  keys: 'ssh_keys/sshKeys_list',
  sizes: 'sizes/sizes_list',
  regions: 'regions/regions_list',
  images: 'images/images_list',
  vpcs: 'vpcs/vpcs_list',
  list: 'droplets/droplets_list',
  create: 'droplets/droplets_create',
  deleteByTag: 'droplets/droplets_destroy_byTag',
  get: 'droplets/droplets_get',
  delete: 'droplets/droplets_destroy',
  actions: 'actions/actions_list',
  action: 'actions/actions_get',
  createTag: 'tags/tags_create',
  tag: 'tags/tags_assign_resources',
};

interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly allOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly nullable?: boolean;
  readonly readOnly?: boolean;
  readonly [key: string]: unknown;
}

interface Operation {
  readonly parameters?: readonly { in: string; name: string; required?: boolean; schema: Schema }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}

const [folder = '', commit = ''] = process.argv.slice(2);

/** A file with all its references in place. */
function load(path: string): unknown {
  const follow = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(follow);
    if (typeof value !== 'object' || value === null) return value;
    const { $ref, ...rest } = value as Record<string, unknown>;
    if (typeof $ref !== 'string')
      return Object.fromEntries(Object.entries(rest).map(([key, one]) => [key, follow(one)]));
    const [file = '', place = ''] = $ref.split('#/');
    const found = load(join(dirname(path), file));
    return place === '' ? found : (found as Record<string, unknown>)[place];
  };
  // Answers and examples refer to thousands of files, and no request needs them.
  const {
    responses: _answers,
    'x-codeSamples': _samples,
    ...rest
  } = parse(readFileSync(path, 'utf8')) as Operation & {
    readonly responses?: unknown;
    readonly 'x-codeSamples'?: unknown;
  };
  return follow('requestBody' in rest ? { ...rest, requestBody: withoutExamples(rest.requestBody) } : rest);
}

function withoutExamples(body: Operation['requestBody']): unknown {
  const content = Object.entries(body?.content ?? {}).map(([type, { schema }]) => [type, { schema }]);
  return { content: Object.fromEntries(content) };
}

const KEPT = [
  'type',
  'enum',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
] as const;

/** One object for `allOf`, no texts, and no fields but those that are named. */
function schemaOf(given: Schema): object {
  const { allOf = [], ...own } = given;
  const parts = [...allOf, own] as Schema[];
  const merged = Object.assign({}, ...parts) as Schema;
  const properties = Object.assign({}, ...parts.map((part) => part.properties ?? {})) as Record<string, Schema>;
  const required = parts.flatMap((part) => part.required ?? []);
  const sent = Object.entries(properties).filter(([, property]) => !property.readOnly);
  const choices = merged.oneOf ?? merged.anyOf;
  const schema = {
    ...Object.fromEntries(KEPT.flatMap((key) => (merged[key] === undefined ? [] : [[key, merged[key]]]))),
    ...(sent.length > 0 && {
      type: 'object',
      properties: Object.fromEntries(sent.map(([name, property]) => [name, schemaOf(flat(property))])),
      ...(required.length > 0 && { required }),
      additionalProperties: false,
    }),
    ...(merged.items && { items: schemaOf(flat(merged.items)) }),
    ...(choices && { anyOf: choices.map((choice) => schemaOf(flat(choice))) }),
  };
  return merged.nullable ? { anyOf: [schema, { type: 'null' }] } : schema;
}

/** `allOf` inside `allOf` as one list. */
function flat(schema: Schema): Schema {
  const allOf = (schema.allOf ?? []).flatMap((part) => {
    const { allOf: inner = [], ...own } = flat(part);
    return [...inner, own];
  });
  return allOf.length > 0 ? { ...schema, allOf } : schema;
}

/** The methods of an operation: where it takes one of two bodies, the second is `<action>Many`. */
function methodsOf(action: string, file: string): [string, MethodDefinition][] {
  const { parameters = [], requestBody } = load(join(folder, 'specification', 'resources', `${file}.yml`)) as Operation;
  const inQuery = parameters.filter((one) => one.in === 'query');
  const required = inQuery.filter((one) => one.required).map(({ name }) => name);
  const method = {
    query: Object.fromEntries(inQuery.map(({ name, schema }) => [name, schemaOf(flat(schema))])),
    ...(required.length > 0 && { required }),
  };
  const body = requestBody?.content['application/json']?.schema;
  if (!body) return [[action, method]];
  return (body.oneOf ?? [body]).map((one, at) => [
    at === 0 ? action : `${action}Many`,
    { ...method, body: schemaOf(flat(one)) },
  ]);
}

const methods = Object.fromEntries(Object.entries(OPERATIONS).flatMap(([action, file]) => methodsOf(action, file)));
const command = 'node scripts/digitalocean-definition.ts <its folder> <its commit>';
const from = `github.com/digitalocean/openapi at ${commit}`;
writeDefinition({ provider: 'digitalocean', from, command }, { methods, $defs: {} });

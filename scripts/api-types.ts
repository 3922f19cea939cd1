// The HTTP API as types of TypeScript, in the form that openapi-fetch takes. openapi-typescript would write them too, but
// needs a TypeScript 5 of its own.
import type { OpenApi, Operation } from '../src/api/openapi.ts';
import type { JsonSchema } from '../src/api/schema-words.ts';
import { describedApi } from './api-reference.ts';

/** These bound or explain a value; its type is the same without them. */
const WITHOUT_TYPE = new Set(
  'description default examples format pattern minimum maximum minLength maxLength minItems maxItems propertyNames contentEncoding'.split(
    ' ',
  ),
);
const WITH_TYPE = new Set('$ref type enum const items anyOf allOf properties additionalProperties required'.split(' '));

const NAMES: Readonly<Record<string, string>> = { integer: 'number', object: '{ [key: string]: unknown }' };

const keyOf = (name: string): string => (/^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name));

const inside = (lines: readonly string[]): string =>
  lines
    .flatMap((line) => line.split('\n'))
    .map((line) => `  ${line}`)
    .join('\n');

const block = (members: readonly string[]): string => (members.length === 0 ? '{}' : `{\n${inside(members)}\n}`);

const comment = (text: string | undefined): string => (text ? `/** ${text.replaceAll('*/', '* /')} */\n` : '');

const member = (name: string, isRequired: boolean, type: string, text?: string): string =>
  `${comment(text)}${keyOf(name)}${isRequired ? '' : '?'}: ${type};`;

function objectType({ properties = {}, required = [], additionalProperties }: JsonSchema): string {
  const known = Object.entries(properties).map(([name, inner]) =>
    member(name, required.includes(name), schemaType(inner), inner.description),
  );
  if (additionalProperties === false) return known.length === 0 ? 'Record<string, never>' : block(known);
  const rest = typeof additionalProperties === 'object' ? schemaType(additionalProperties) : 'unknown';
  const map = `{ [key: string]: ${rest} }`;
  return known.length === 0 ? map : `${block(known)} & ${map}`;
}

function listType(items: JsonSchema): string {
  const type = schemaType(items);
  return /^[\w'[\]]+$/.test(type) ? `${type}[]` : `(${type})[]`;
}

const union = (types: readonly string[]): string => [...new Set(types)].join(' | ');

/** The type of a schema. A keyword that is not known here stops the generator: its type would be a guess. */
export function schemaType(schema: JsonSchema): string {
  const unknown = Object.keys(schema).find((key) => !WITHOUT_TYPE.has(key) && !WITH_TYPE.has(key));
  if (unknown !== undefined) throw new Error(`scripts/api-types.ts does not know the keyword ${unknown}`);
  const { $ref, type, anyOf, properties, additionalProperties, items } = schema;
  if ($ref) return `Schemas['${$ref.split('/').at(-1)}']`;
  const choices = schema.enum ?? (schema.const === undefined ? undefined : [schema.const]);
  if (choices) return union(choices.map((choice) => JSON.stringify(choice)));
  if (anyOf) return union(anyOf.map(schemaType));
  if (items) return listType(items);
  if (properties || additionalProperties !== undefined) return objectType(schema);
  const names = type === undefined ? ['unknown'] : [type].flat();
  return union(names.map((name) => NAMES[name] ?? name));
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly description?: string;
  readonly schema: JsonSchema;
}

type Content = { readonly content?: Readonly<Record<string, { readonly schema: JsonSchema }>> };

function parametersType(parameters: readonly Parameter[]): string {
  const places = ['query', 'header', 'path'].map((place) => {
    const own = parameters.filter((parameter) => parameter.in === place);
    const members = own.map(({ name, required, schema, description }) =>
      member(name, required, schemaType(schema), description),
    );
    const isRequired = own.some(({ required }) => required);
    return member(place, isRequired, own.length === 0 ? 'never' : block(members));
  });
  return block([...places, 'cookie?: never;']);
}

function contentType({ content }: Content): string {
  if (!content) return 'content?: never;';
  const members = Object.entries(content).map(([media, { schema }]) => member(media, true, schemaType(schema)));
  return `content: ${block(members)};`;
}

function operationType({ parameters, requestBody, responses }: Operation): string {
  const isBodyRequired = requestBody?.required === true;
  const answers = Object.entries(responses).map(([status, answer]) => {
    const headers = 'headers: { [name: string]: unknown };';
    return `${status}: ${block([headers, contentType(answer as Content)])};`;
  });
  return block([
    `parameters: ${parametersType(parameters as unknown as readonly Parameter[])};`,
    requestBody
      ? `requestBody${isBodyRequired ? '' : '?'}: ${block([contentType(requestBody as Content)])};`
      : 'requestBody?: never;',
    `responses: ${block(answers)};`,
  ]);
}

/** What a plain request can ask; a path that changes to WebSocket is none. */
function pathMembers({ paths }: OpenApi): readonly string[] {
  return Object.entries(paths).flatMap(([path, methods]) => {
    const plain = Object.entries(methods).filter(([, { responses }]) => !('101' in responses));
    const members = plain.map(([method, operation]) =>
      member(method, true, operationType(operation), `${operation.summary} ${operation.description}`),
    );
    return members.length === 0 ? [] : member(path, true, block(members));
  });
}

export async function renderApiTypes(): Promise<string> {
  const api = await describedApi();
  const schemas = Object.entries(api.components.schemas as Record<string, JsonSchema>)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, schema]) => member(name, true, schemaType(schema), schema.description));
  return `${[
    '// Generated by "npm run gen" from src/api; do not edit.',
    `/** What is sent and answered, by name. */\nexport interface Schemas ${block(schemas)}`,
    `/** Every path with its methods, as openapi-fetch takes it. */\nexport interface Paths ${block(pathMembers(api))}`,
  ].join('\n\n')}\n`;
}

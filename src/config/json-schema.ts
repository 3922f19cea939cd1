import { z } from 'zod';
import { DURATION_PATTERN, type SchemaNotes } from '#core/schema.ts';
import { toCamel, toSnake } from './keys.ts';

type JsonSchema = z.core.JSONSchema.BaseSchema;

const VARIABLE = '\\$\\{.+\\}';
const OWN_NOTES = [
  'secret',
  'hidden',
  'literal',
  'sourceText',
  'filePath',
  'unused',
  'shapes',
  'kindsOf',
  'noun',
  'defaultText',
];

/** JSON schema of what users write, for editors: keys in snake_case or camelCase, unknown ones marked, variables allowed. */
export function jsonSchemaOf(schema: z.ZodType): JsonSchema {
  const whole = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    reused: 'inline',
    override: ({ zodSchema, jsonSchema }) => adapt(zodSchema._zod.def, jsonSchema),
  });
  complete(whole, '#');
  return whole;
}

/** The schemas directly inside of one, with their pointers. */
function* schemasIn(schema: JsonSchema, pointer: string): Generator<readonly [JsonSchema, string]> {
  for (const [key, inner] of Object.entries(schema.properties ?? {}))
    yield [inner as JsonSchema, `${pointer}/properties/${key}`];
  for (const key of ['items', 'additionalProperties'] as const) yield [schema[key] as JsonSchema, `${pointer}/${key}`];
  for (const key of ['anyOf', 'oneOf', 'allOf'] as const)
    for (const [n, inner] of (schema[key] ?? []).entries()) yield [inner as JsonSchema, `${pointer}/${key}/${n}`];
}

function complete(schema: JsonSchema, pointer: string): void {
  for (const [inner, at] of schemasIn(schema, pointer)) if (typeof inner === 'object') complete(inner, at);
  allowBesideKind(schema);
  const spelled = Object.keys(schema.properties ?? {}).filter((key) => toCamel(key) !== key);
  for (const key of spelled) {
    // Refers to the key in snake_case, since a copy at each level would double the schema with each. Editors complete
    // keys in snake_case alone.
    const reference = { $ref: `${pointer}/properties/${key}`, doNotSuggest: true };
    Object.assign(schema.properties as object, { [toCamel(key)]: reference });
  }
  requireEitherSpelling(schema);
}

/** Beside the one kind of an entry of `backends` stand its price and its limit. */
function allowBesideKind(schema: JsonSchema): void {
  const besides = Object.values(schema.properties ?? {}).filter((inner) => (inner as JsonSchema).type !== 'object');
  if (schema.maxProperties === 1) schema.maxProperties += besides.length;
}

function requireEitherSpelling(schema: JsonSchema): void {
  const [plain = [], spelled = []] = [false, true].map((isSpelled) =>
    schema.required?.filter((key) => (toCamel(key) !== key) === isSpelled),
  );
  if (spelled.length === 0) return;
  schema.required = plain;
  const either = spelled.map((key) => ({ anyOf: [{ required: [key] }, { required: [toCamel(key)] }] }));
  schema.allOf = [...(schema.allOf ?? []), ...either];
}

function adapt(def: z.core.$ZodTypeDef, schema: JsonSchema): void {
  if ((schema as SchemaNotes).noun === 'backend') Object.assign(schema, { minProperties: 1, maxProperties: 1 });
  for (const note of OWN_NOTES) delete (schema as Record<string, unknown>)[note];
  if (schema.pattern === DURATION_PATTERN) allowDuration(schema);
  if (def.type === 'object') spellKeys(def as z.core.$ZodObjectDef, schema);
  if (schema.type === 'integer' || schema.type === 'number') allowText(schema, `^(-?[0-9.]+|${VARIABLE})$`);
  if (schema.type === 'boolean') allowText(schema, `^${VARIABLE}$`);
  // The bounds of safe integers say nothing to a reader.
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
}

/** proto-JSON writes numbers as texts too, and `${VAR}` is a text until it is expanded. */
function allowText(schema: JsonSchema, pattern: string): void {
  schema.type = [schema.type, 'string'] as unknown as NonNullable<JsonSchema['type']>;
  schema.pattern = pattern;
}

function allowDuration(schema: JsonSchema): void {
  delete schema.anyOf;
  schema.type = ['string', 'number'] as unknown as NonNullable<JsonSchema['type']>;
  schema.pattern = `${DURATION_PATTERN}|^${VARIABLE}$`;
}

function spellKeys(def: z.core.$ZodObjectDef, schema: JsonSchema): void {
  const properties = Object.entries(schema.properties ?? {});
  schema.properties = Object.fromEntries(properties.map(([key, inner]) => [toSnake(key), inner]));
  if (schema.required) schema.required = schema.required.map(toSnake);
  if (!def.catchall) schema.additionalProperties = false;
}

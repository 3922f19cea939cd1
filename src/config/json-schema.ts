import { z } from 'zod';
import { DURATION_PATTERN, type SchemaNotes } from '#core/schema.ts';
import { toSnake } from './keys.ts';

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

/** JSON schema of what users write, for editors: keys in snake_case, unknown ones marked, variables allowed. */
export function jsonSchemaOf(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    reused: 'inline',
    override: ({ zodSchema, jsonSchema }) => adapt(zodSchema._zod.def, jsonSchema),
  });
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

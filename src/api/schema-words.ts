// JSON Schema in a few words, for the page that people read and for the reference.

export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly description?: string;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: boolean | JsonSchema;
  readonly required?: readonly string[];
}

/** How the words are set. */
export interface Marks {
  /** A value that stands as it is written. */
  code(text: string): string;
  /** A schema that has a name. */
  link(name: string): string;
}

const WORDS: Readonly<Record<string, string>> = {
  'date-time': 'time',
  duration: 'duration',
  integer: 'whole number',
  string: 'text',
  boolean: 'true or false',
  object: 'map',
};

function bounds({ minimum, maximum }: JsonSchema): string {
  const isBound = (limit: number | undefined): limit is number => Math.abs(limit ?? Infinity) < Number.MAX_SAFE_INTEGER;
  if (isBound(minimum) && isBound(maximum)) return ` from ${minimum} to ${maximum}`;
  if (isBound(minimum)) return ` from ${minimum} on`;
  return isBound(maximum) ? ` up to ${maximum}` : '';
}

function plainWords(schema: JsonSchema): string {
  const { type, format } = schema;
  return (WORDS[format ?? ''] ?? WORDS[String(type)] ?? String(type ?? 'anything')) + bounds(schema);
}

/** What a schema takes or gives; named ones as links. */
export function schemaWords(schema: JsonSchema, marks: Marks): string {
  const words = (inner: JsonSchema): string => schemaWords(inner, marks);
  if (schema.$ref) return marks.link(schema.$ref.split('/').at(-1) ?? schema.$ref);
  const choices = schema.enum ?? (schema.const === undefined ? undefined : [schema.const]);
  if (choices) return choices.map((choice) => marks.code(String(choice))).join(', ');
  const parts = schema.anyOf ?? schema.allOf ?? schema.oneOf;
  if (parts) return [...new Set(parts.map(words))].join(' or ');
  if (schema.items) return `list of ${words(schema.items)}`;
  if (schema.properties) {
    const keys = Object.entries(schema.properties).map(([key, inner]) => `${key}: ${words(inner)}`);
    return `{ ${keys.join(', ')} }`;
  }
  if (typeof schema.additionalProperties === 'object') return `map of ${words(schema.additionalProperties)}`;
  return plainWords(schema);
}

type Content = { readonly content?: Readonly<Record<string, { readonly schema: JsonSchema }>> };

/** What a request or an answer carries: its schema where it is JSON, else the kind of its text. */
export function contentWords({ content }: Content, marks: Marks): string {
  return Object.entries(content ?? {})
    .map(([media, { schema }]) =>
      media === 'application/json' && schema.type !== 'string' ? schemaWords(schema, marks) : marks.code(media),
    )
    .join(' or ');
}

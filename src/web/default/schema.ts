// Finds the lists and details of any noun in the OpenAPI document, so that a noun without pages of its own has some.

/** As much of JSON Schema as the pages read. */
export interface ShownSchema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, ShownSchema>>;
  readonly items?: ShownSchema;
}

interface ShownOperation {
  readonly summary?: string;
  readonly parameters?: readonly { readonly name: string }[];
  readonly responses?: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { schema?: ShownSchema }>> }>
  >;
}

export interface ApiDocument {
  readonly paths: Readonly<Record<string, { readonly get?: ShownOperation }>>;
  readonly components: { readonly schemas: Readonly<Record<string, ShownSchema>> };
}

/** One property of a row, in the order of the schema. */
export interface ShownKey {
  readonly key: string;
  readonly isTime: boolean;
  readonly isNumber: boolean;
}

export interface ListedNoun {
  readonly summary: string;
  /** Below `/api/v1`. */
  readonly path: string;
  readonly keys: readonly ShownKey[];
  /** Names a row. */
  readonly nameKey: string;
  /** Whether it is answered at once, without pages. */
  readonly isWhole: boolean;
  /** Whether a row can be shown alone. */
  readonly hasDetail: boolean;
}

const PREFIX = '/api/v1';
const MOST_COLUMNS = 7;
const SCALARS = new Set(['string', 'number', 'integer', 'boolean']);

function resolved(schema: ShownSchema | undefined, { components }: ApiDocument): ShownSchema | undefined {
  const name = schema?.$ref?.split('/').at(-1);
  return name === undefined ? schema : components.schemas[name];
}

const replyOf = (operation: ShownOperation | undefined, document: ApiDocument): ShownSchema | undefined =>
  resolved(operation?.responses?.['200']?.content?.['application/json']?.schema, document);

/** The list at that path of the API, if its answer is one of rows with keys. */
export function listAt(noun: string, document: ApiDocument): ListedNoun | undefined {
  const path = `/${noun}`;
  const operation = document.paths[PREFIX + path]?.get;
  const row = resolved(replyOf(operation, document)?.properties?.items?.items, document);
  if (!row?.properties) return undefined;
  const properties = Object.entries(row.properties).map(([key, schema]) => [key, resolved(schema, document)] as const);
  const keys = properties
    .filter(([, schema]) => SCALARS.has(schema?.type ?? ''))
    .map(([key, schema]) => ({
      key,
      isTime: schema?.format === 'date-time',
      isNumber: schema?.type === 'number' || schema?.type === 'integer',
    }));
  const nameKey = ['name', 'id'].find((key) => keys.some((one) => one.key === key)) ?? keys[0]?.key;
  if (nameKey === undefined) return undefined;
  const first = keys.filter(({ key }) => key === nameKey);
  const others = keys.filter(({ key }) => key !== nameKey);
  return {
    summary: operation?.summary ?? '',
    path,
    nameKey,
    isWhole: !operation?.parameters?.some(({ name }) => name === 'limit'),
    keys: [...first, ...others].slice(0, MOST_COLUMNS),
    hasDetail: Object.keys(document.paths).some((one) => new RegExp(`^${PREFIX}${path}/\\{\\w+\\}$`).test(one)),
  };
}

/** All nouns of the API that have a list. */
export const listedNouns = (document: ApiDocument): readonly string[] =>
  Object.keys(document.paths).flatMap((path) => {
    const noun = new RegExp(`^${PREFIX}/([\\w-]+)$`).exec(path)?.[1];
    return noun !== undefined && listAt(noun, document) ? [noun] : [];
  });

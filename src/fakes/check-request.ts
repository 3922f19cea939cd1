// Checks each request of a fake against the cloud's own definition of its API.
//
// A fake that accepts what its cloud refuses hides a bug until the first real call. So each fake has a file
// `definition.gen.ts`: the part of the cloud's definition that our providers use, as JSON Schema, by the names that the
// fake gives its actions. A script beside the fake generates it from the package that publishes the definition; it names
// package and version in the file's first line, and is run by hand, as it needs that package.
//
//   const check = openRequestCheck(definition);
//   const [flaw] = check(call.action, { query, body });
//   if (flaw) throw refusal(…);                        // in the cloud's own words
//
// The check finds flaws and has no words of its own: how a cloud names an unknown field is part of the fake. It knows
// nothing of what exists: unknown networks, images and keys are refused where the fake looks them up.
import { z } from 'zod';

type Schema = Parameters<typeof z.fromJSONSchema>[0];

/** One action of the fake. */
export interface MethodDefinition {
  /** By name, as JSON Schema of the value, not of its text: `{ type: 'integer' }` for `?page=2`. */
  readonly query: Readonly<Record<string, object>>;
  /** Names of parameters without which the cloud refuses. */
  readonly required?: readonly string[];
  /** JSON Schema, mostly a `$ref`; absent: the method has no body. */
  readonly body?: object;
}

export interface RequestDefinition {
  readonly methods: Readonly<Record<string, MethodDefinition>>;
  /** What bodies refer to as `#/$defs/NAME`; objects without further fields say `additionalProperties: false`. */
  readonly $defs: Readonly<Record<string, object>>;
}

export interface RequestFlaw {
  readonly at: 'query' | 'body';
  /** `unknown`: no such field or parameter; `value`: not one of those allowed, or not in the form that is. */
  readonly kind: 'unknown' | 'missing' | 'type' | 'value';
  /** From the body or the query to the field, its own name last; empty: the body itself. */
  readonly path: readonly (string | number)[];
  readonly received: unknown;
  /** The type, the allowed values or the pattern, as far as the definition has them. */
  readonly expected?: string | readonly string[] | undefined;
}

interface RequestParts {
  readonly query: Readonly<Record<string, string>>;
  /** Undefined where nothing was sent. */
  readonly body?: unknown;
}

export type RequestCheck = (action: string, request: RequestParts) => readonly RequestFlaw[];

type Path = RequestFlaw['path'];

/** The schema of the text that a parameter has in a query. */
function asText(schema: object): object {
  const { type } = schema as { type?: string };
  if (type === 'integer') return { type: 'string', pattern: '^-?[0-9]+$' };
  if (type === 'number') return { type: 'string', pattern: '^-?[0-9]+([.][0-9]+)?$' };
  if (type === 'boolean') return { enum: ['true', 'false'] };
  return type === 'array' ? { type: 'string' } : schema;
}

const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>(
    (tree, key) => (typeof tree === 'object' && tree !== null ? (tree as Record<string, unknown>)[key] : undefined),
    value,
  );

function flawsOf(at: RequestFlaw['at'], value: unknown, issue: z.core.$ZodIssue): RequestFlaw[] {
  const path = issue.path as Path;
  const received = valueAt(value, path);
  const flaw = { at, path, received } as const;
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => {
      const own = [...path, key];
      return { at, kind: 'unknown', path: own, received: valueAt(value, own) };
    });
  if (received === undefined) return [{ ...flaw, kind: 'missing' }];
  if (issue.code === 'invalid_type') return [{ ...flaw, kind: 'type', expected: issue.expected }];
  if (issue.code === 'invalid_value') return [{ ...flaw, kind: 'value', expected: issue.values.map(String) }];
  const pattern = issue.code === 'invalid_format' ? issue.pattern?.slice(1, -1) : undefined;
  return [{ ...flaw, kind: issue.code === 'invalid_union' ? 'type' : 'value', expected: pattern }];
}

/** Text that cannot be read as the type of its parameter has the wrong type. */
function ofType(flaw: RequestFlaw, { query }: MethodDefinition): RequestFlaw {
  const { type } = (query[String(flaw.path[0])] ?? {}) as { type?: string };
  const isText = type === undefined || type === 'string';
  return flaw.kind === 'value' && !isText ? { ...flaw, kind: 'type', expected: type } : flaw;
}

interface MethodSchemas {
  readonly query: z.ZodType;
  readonly body: z.ZodType | undefined;
}

/** An action without a definition has no flaws; a test of each fake says that every action has one. */
export function openRequestCheck({ methods, $defs }: RequestDefinition): RequestCheck {
  const opened = new Map<string, MethodSchemas>();

  function schemasOf(action: string, { query, required = [], body }: MethodDefinition): MethodSchemas {
    const known = opened.get(action);
    if (known) return known;
    const properties = Object.fromEntries(Object.entries(query).map(([name, schema]) => [name, asText(schema)]));
    const schemas = {
      query: z.fromJSONSchema({ type: 'object', properties, required, additionalProperties: false } as Schema),
      body: body && z.fromJSONSchema({ ...body, $defs } as Schema),
    };
    opened.set(action, schemas);
    return schemas;
  }

  return (action, { query, body }) => {
    const method = methods[action];
    if (!method) return [];
    const schemas = schemasOf(action, method);
    const inQuery = schemas.query.safeParse(query).error?.issues ?? [];
    const inBody = schemas.body?.safeParse(body).error?.issues ?? [];
    return [
      ...inQuery.flatMap((issue) => flawsOf('query', query, issue)).map((flaw) => ofType(flaw, method)),
      ...inBody.flatMap((issue) => flawsOf('body', body, issue)),
    ];
  };
}

/** `disks[0].name`, as clouds write the path of a field. */
export const fieldPath = (path: Path): string =>
  path.map((key, index) => (typeof key === 'number' ? `[${key}]` : index === 0 ? key : `.${key}`)).join('');

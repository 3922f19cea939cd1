// Parses a tree by a schema, and reports each problem with its place.

import type { z } from 'zod';
import { Fault } from '#core/fault.ts';
import { nearest } from '#core/nearest.ts';
import type { Problem } from '#core/problem.ts';
import type { Expansion } from './environment.ts';
import { fitToSchema, newWalk, type Walk } from './fit-to-schema.ts';
import { isKey, joinPath, toCamel, toSnake } from './keys.ts';
import { MOST_PROBLEMS, type Parsed, problemAt } from './problem.ts';
import { objectFieldsOf, type Schema, unwrap } from './schema-walk.ts';
import type { ConfigNode, TextPlace } from './tree.ts';

type Issue = z.core.$ZodIssue;

const EXPECTED: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map of keys',
  record: 'a map of keys',
  null: 'empty',
};

/** The problem as text; `node` is the value there. A secret is never repeated. */
export function issueText(issue: Issue, node: ConfigNode | undefined, isSecret: boolean): string {
  // A schema's own message is better than a generic one.
  if (!/^(Invalid|Too (small|big)|Unrecognized)/.test(issue.message)) return issue.message;
  switch (issue.code) {
    case 'invalid_type':
      if (!node) return 'is missing';
      return `must be ${EXPECTED[issue.expected] ?? issue.expected}, not ${describe(node, isSecret)}`;
    case 'too_small':
      return boundText(issue.origin, Number(issue.minimum), issue.inclusive === false ? 'more than' : 'at least');
    case 'too_big':
      return boundText(issue.origin, Number(issue.maximum), issue.inclusive === false ? 'less than' : 'at most');
    case 'invalid_value':
      return choiceText(issue.values.map(String), node);
    case 'invalid_union':
      return unionText(issue, node, isSecret);
    case 'invalid_format':
      return issue.format === 'regex' ? `does not match ${issue.pattern}` : `is not a valid ${issue.format}`;
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'invalid_key':
      return `has a key that is not allowed: ${issue.issues.map((inner) => inner.message).join('; ')}`;
    default:
      return issue.message;
  }
}

function describe(node: ConfigNode, isSecret: boolean): string {
  if (node.is === 'list') return 'a list';
  if (node.is === 'map') return 'a map of keys';
  const { value } = node;
  if (value === null) return 'empty';
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return isSecret ? 'a number' : `the number ${node.source ?? value}`;
  return isSecret || value.length > 40 ? 'a text' : `the text ${JSON.stringify(value)}`;
}

function boundText(origin: string, bound: number, how: string): string {
  if (origin === 'string')
    return bound === 1 && how === 'at least' ? 'must not be empty' : `must have ${how} ${bound} characters`;
  if (origin === 'array' || origin === 'set')
    return bound === 1 && how === 'at least' ? 'must not be empty' : `must have ${how} ${bound} entries`;
  return `must be ${how} ${bound}`;
}

function choiceText(values: readonly string[], node: ConfigNode | undefined): string {
  if (!node) return 'is missing';
  const written = node.is === 'scalar' ? String(node.value) : '';
  const meant = nearest(written, values);
  const choices = values.length === 1 ? `must be ${values[0]}` : `must be one of ${values.join(', ')}`;
  return meant === undefined ? choices : `${choices}; did you mean ${meant}?`;
}

function unionText(
  issue: Extract<Issue, { code: 'invalid_union' }>,
  node: ConfigNode | undefined,
  isSecret: boolean,
): string {
  if (!node) return 'is missing';
  if ('options' in issue && Array.isArray(issue.options)) return choiceText(issue.options.map(String), node);
  const expected = issue.errors.map(([first]) =>
    first?.code === 'invalid_type' && first.path.length === 0 ? first.expected : undefined,
  );
  const words = expected.map((word) => word && (EXPECTED[word] ?? word));
  if (words.length === 0 || words.includes(undefined)) return 'matches none of the forms allowed here';
  return `must be ${[...new Set(words)].join(' or ')}, not ${describe(node, isSecret)}`;
}

/** The issues of the option that the value was taken for; `chosen` knows it by its path. */
export function flattenUnion(
  issue: Issue,
  chosen: (path: readonly PropertyKey[]) => number | undefined,
): readonly Issue[] {
  const at = issue.code === 'invalid_union' ? chosen(issue.path) : undefined;
  const inner = issue.code === 'invalid_union' && at !== undefined ? issue.errors[at] : undefined;
  if (!inner || inner.length === 0) return [issue];
  return inner.flatMap((one) => flattenUnion({ ...one, path: [...issue.path, ...one.path] }, chosen));
}

/** The place of a value in a document, as its writer knows it. */
export interface Located {
  readonly path: string;
  readonly place: TextPlace | undefined;
  /** Absent where nothing stands there. */
  readonly node: ConfigNode | undefined;
}

/**
 * Finds what a path of schema keys names; what is missing is placed at the map that should hold it. `under` is where the
 * root itself stands in its document.
 */
export function locate(root: ConfigNode, keys: readonly PropertyKey[], under = ''): Located {
  let found: Located = { path: under, place: root.place, node: root };
  for (const key of keys) {
    const { node, path, place } = found;
    if (node?.is === 'map') {
      const entry = node.entries.find((candidate) => isKey(candidate.key, String(key)));
      if (entry)
        found = { path: joinPath(path, entry.key), place: entry.value.place ?? entry.place, node: entry.value };
      else found = { path: joinPath(path, spelledLike(node.entries, String(key))), place, node: undefined };
    } else {
      const item = node?.is === 'list' && typeof key === 'number' ? node.items[key] : undefined;
      const step = typeof key === 'number' ? key : toSnake(String(key));
      found = { path: joinPath(path, step), place: item?.place ?? place, node: item };
    }
  }
  return found;
}

/** In camelCase where its neighbours are, otherwise as the documentation has it. */
function spelledLike(neighbours: readonly { readonly key: string }[], key: string): string {
  const isCamel =
    neighbours.some((entry) => /[a-z][A-Z]/.test(entry.key)) && !neighbours.some((entry) => entry.key.includes('_'));
  return isCamel ? toCamel(key) : toSnake(key);
}

export interface ParseOptions {
  /** Lets `${VAR}` and `file:` be read: only for the operator's own documents. */
  readonly expand?: Expansion | undefined;
  /** Refuses texts that name a file of the server: for documents of others. */
  readonly refusesFiles?: boolean | undefined;
  /** Where the tree stands in its document, for the paths of problems: `agent_pools[3]`. */
  readonly under?: string | undefined;
  /** Of the document; paths in it are relative to that. */
  readonly directory?: string | undefined;
}

/** Reads a tree by its schema: all of it is right, or every problem is named at its place. */
export function parseWith<T>(schema: z.ZodType<T>, node: ConfigNode, options: ParseOptions = {}): Parsed<T> {
  const { under = '' } = options;
  const walk: Walk = { ...newWalk(options.expand, options.refusesFiles), directory: options.directory };
  const value = fitToSchema(schema, node, { path: under, walk });
  const parsed = safeParse(schema, value);
  const chosen = (path: readonly PropertyKey[]) => walk.choices.get(locate(node, path).node as ConfigNode);
  const issues = (parsed.error?.issues ?? [])
    .slice(0, 2 * MOST_PROBLEMS)
    .flatMap((issue) => flattenUnion(issue, chosen))
    .slice(0, 2 * MOST_PROBLEMS);
  const found = issues
    .filter((issue) => !isEcho(issue, { root: node, under, walk }))
    .map((issue) => toProblem(issue, { schema, root: node, under, walk }));
  const problems = [...walk.problems, ...found].toSorted(byPlace);
  if (problems.length > 0 || !parsed.success) return { problems, warnings: walk.warnings };
  return { value: parsed.data, warnings: walk.warnings };
}

export const byPlace = (a: Problem, b: Problem): number =>
  (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0);

/** A schema that throws is a bug of its kind: reported, never a crash. */
function safeParse<T>(schema: z.ZodType<T>, value: unknown): z.ZodSafeParseResult<T> {
  try {
    return schema.safeParse(value);
  } catch (thrown) {
    throw Fault.from(thrown);
  }
}

interface Reading {
  readonly schema: Schema;
  readonly root: ConfigNode;
  readonly under: string;
  readonly walk: Walk;
}

/** Whether shaping the document has already named what is wrong with this value. */
function isEcho(issue: z.core.$ZodIssue, { root, under, walk }: Omit<Reading, 'schema'>): boolean {
  const { path } = locate(root, issue.path, under);
  const isQuiet = issue.code === 'custom' && issue.params?.[QUIET] === true;
  return walk.problems.some((known) => known.path === path || (isQuiet && known.path.startsWith(`${path}.`)));
}

/** In the `params` of a custom issue: leave it out where a problem within is already named. */
export const QUIET = 'quiet';

function toProblem(issue: z.core.$ZodIssue, { schema, root, under, walk }: Reading): Problem {
  const { path, place, node } = locate(root, issue.path, under);
  const text = issueText(issue, node, isSecretAt(schema, issue.path));
  const message = path === '' ? `the document ${text}` : text;
  const expanded = node?.is === 'scalar' ? walk.expanded.get(node) : undefined;
  const original = node?.is === 'scalar' ? String(node.value) : '';
  return problemAt(path, place, expanded ? message.replaceAll(expanded, () => original) : message);
}

function isSecretAt(schema: Schema, path: readonly PropertyKey[]): boolean {
  let current: Schema | undefined = schema;
  for (const key of path) {
    const unwrapped = unwrap(current);
    const { def }: { def: ReturnType<typeof unwrap>['def'] } = unwrapped;
    if (unwrapped.notes.secret || unwrapped.notes.hidden) return true;
    if (def.type === 'array') current = def.element;
    else if (def.type === 'record') current = def.valueType as Schema;
    else current = objectFieldsOf(unwrapped)?.[String(key)];
    if (!current) return false;
  }
  const { secret, hidden } = unwrap(current).notes;
  return secret === true || hidden === true;
}

import type { z } from 'zod';
import { Fault } from '#core/fault.ts';
import type { Problem } from '#core/problem.ts';
import type { Expansion } from './environment.ts';
import { flattenUnion, issueText } from './issue-text.ts';
import { locate } from './locate.ts';
import { type Parsed, problemAt } from './problem.ts';
import { type Schema, shapeOf, unwrap } from './schema-walk.ts';
import { shape } from './shape.ts';
import { newWalk, type Walk } from './shape-scalar.ts';
import type { ConfigNode } from './tree.ts';

export interface ParseOptions {
  /** Lets `${VAR}` and `file:` be read: only for the operator's own documents. */
  readonly expand?: Expansion | undefined;
  /** Refuses texts that name a file of the server: for documents of others. */
  readonly refusesFiles?: boolean | undefined;
  /** Where the tree stands in its document, for the paths of problems: `agent_pools[3]`. */
  readonly under?: string | undefined;
}

/** Reads a tree by its schema: all of it is right, or every problem is named at its place. */
export function parseWith<T>(schema: z.ZodType<T>, node: ConfigNode, options: ParseOptions = {}): Parsed<T> {
  const { under = '' } = options;
  const walk = newWalk(options.expand, options.refusesFiles);
  const value = shape(schema, node, { path: under, walk });
  const parsed = safeParse(schema, value);
  const chosen = (path: readonly PropertyKey[]) => walk.choices.get(locate(node, path).node as ConfigNode);
  const issues = (parsed.error?.issues ?? []).flatMap((issue) => flattenUnion(issue, chosen));
  const found = issues
    .filter((issue) => !isEcho(issue, { root: node, under, walk }))
    .map((issue) => toProblem(issue, { schema, root: node, under, walk }));
  const problems = [...walk.problems, ...found].toSorted(byPlace);
  if (problems.length > 0 || !parsed.success) return { problems, warnings: walk.warnings };
  return { value: parsed.data, warnings: walk.warnings };
}

export const byPlace = (a: Problem, b: Problem): number =>
  (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0);

/** A schema that throws is a bug of its kind: named, and never a crash. */
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

/** Where the way through the document already told what is wrong with a value, the schema's word adds nothing. */
function isEcho(issue: z.core.$ZodIssue, { root, under, walk }: Omit<Reading, 'schema'>): boolean {
  const { path } = locate(root, issue.path, under);
  const isQuiet = issue.code === 'custom' && issue.params?.[QUIET] === true;
  return walk.problems.some((told) => told.path === path || (isQuiet && told.path.startsWith(`${path}.`)));
}

/** In the `params` of a custom issue: say nothing where something within is already told. */
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
    else current = shapeOf(unwrapped)?.[String(key)];
    if (!current) return false;
  }
  const { secret, hidden } = unwrap(current).notes;
  return secret === true || hidden === true;
}

import type { z } from 'zod';
import { nearest } from './keys.ts';
import type { ConfigNode } from './tree.ts';

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

/** What is wrong, in plain words; `node` is what stands there, and a secret is never repeated. */
export function issueText(issue: Issue, node: ConfigNode | undefined, isSecret: boolean): string {
  // What a schema says in its own words is better known there than here.
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
  if (words.length === 0 || words.includes(undefined)) return 'fits none of the forms allowed here';
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

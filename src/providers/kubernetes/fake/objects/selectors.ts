// Label and field selectors in the grammar of the API.

import type { Resource } from '../api/resource.ts';
import { served } from '../wire/form.ts';
import { refuse } from '../wire/status.ts';
import { fieldsOf, type KubeObject, listOf, textOf, valueAt } from './object.ts';

type Labels = Readonly<Record<string, string>>;
type Test<T> = (of: T) => boolean;

/** Splits at commas that stand in no parentheses. */
const requirements = (text: string): string[] =>
  text
    .split(/,(?![^(]*\))/)
    .map((part) => part.trim())
    .filter((part) => part !== '');

const unparsable = (text: string): Error =>
  refuse('BadRequest', `unable to parse requirement: found '${text}', expected: !, identifier, or 'end of string'`);

function labelTest(text: string): Test<Labels> {
  const among = /^(\S+)\s+(in|notin)\s+\(([^)]*)\)$/.exec(text);
  if (among) {
    const [, key = '', word, list = ''] = among;
    const values = new Set(list.split(',').map((value) => value.trim()));
    const isWanted = word === 'in';
    return (labels) => (labels[key] === undefined ? !isWanted : values.has(labels[key]) === isWanted);
  }
  const equal = /^([^!=\s]+)\s*(==|=|!=)\s*(\S*)$/.exec(text);
  if (equal) {
    const [, key = '', word, value = ''] = equal;
    return word === '!=' ? (labels) => labels[key] !== value : (labels) => labels[key] === value;
  }
  const exists = /^(!?)\s*([^!=\s]+)$/.exec(text);
  if (!exists) throw unparsable(text);
  const [, not, key = ''] = exists;
  return (labels) => Object.hasOwn(labels, key) === (not === '');
}

/** Throws what the API server refuses a malformed one with. */
export function labelSelector(text: string): Test<Labels> {
  const tests = requirements(text).map(labelTest);
  return (labels) => tests.every((test) => test(labels));
}

const expressionText = (written: unknown): string => {
  const { key, operator, values } = fieldsOf(written);
  const among = listOf(values).join(',');
  const texts: Readonly<Record<string, string>> = {
    In: `${key} in (${among})`,
    NotIn: `${key} notin (${among})`,
    Exists: `${key}`,
    DoesNotExist: `!${key}`,
  };
  return texts[textOf(operator)] ?? '';
};

/** A `LabelSelector` of an object: absent it selects nothing, empty everything. */
export function selectorOf(written: unknown): Test<Labels> {
  if (written === undefined) return () => false;
  const { matchLabels, matchExpressions } = fieldsOf(written);
  const equal = Object.entries(fieldsOf(matchLabels)).map(([key, value]) => `${key}=${value}`);
  return labelSelector([...equal, ...listOf(matchExpressions).map(expressionText)].join(','));
}

const COMMON = [
  ['metadata', 'name'],
  ['metadata', 'namespace'],
];

function fieldTest(text: string, resource: Resource): Test<KubeObject> {
  const [, field = '', word, value = ''] = /^([^!=]+)(==|=|!=)(.*)$/.exec(text) ?? [];
  const path = [...COMMON, ...resource.selectable].find((one) => one.join('.') === field);
  if (!path) throw refuse('BadRequest', `field label not supported: ${field || text}`);
  const isWanted = word !== '!=';
  return (object) => (String(valueAt(object, path) ?? '') === value) === isWanted;
}

export function fieldSelector(text: string, resource: Resource): Test<KubeObject> {
  const tests = requirements(text).map((part) => fieldTest(part, resource));
  return (object) => tests.every((test) => test(object));
}

/** What of a collection the query asks for. */
export function selection(query: URLSearchParams, resource: Resource): Test<KubeObject> {
  const byLabel = labelSelector(query.get('labelSelector') ?? '');
  const byField = fieldSelector(query.get('fieldSelector') ?? '', resource);
  return (object) => byLabel(object.metadata.labels ?? {}) && byField(served(resource, object));
}

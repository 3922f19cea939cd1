import { goQuoted } from '../fmt/quote.ts';
import { byteLength, sliceBytes } from '../value/bytes.ts';
import { compareText, GoMap, GoSlice } from '../value/value.ts';
import { type Functions, fn, variadic } from './function.ts';
import { abbreviate, initials, swapCase, titleCase, uncapitalize, withoutSpaces, wrapText } from './prose.ts';
import {
  goSubstring,
  indentText,
  lowerCase,
  repeatText,
  replaceText,
  SPACE,
  splitText,
  stringOf,
  stringSlice,
  stringsOf,
  upperCase,
} from './text.ts';
import { camelCase, joinedWords } from './word-case.ts';

const EDGE_SPACE = new RegExp(`^${SPACE.source}+|${SPACE.source}+$`, 'g');

function trimAny(cut: string, text: string): string {
  const chars = Array.from(text);
  const set = new Set(Array.from(cut));
  let from = 0;
  let to = chars.length;
  while (from < to && set.has(chars[from] as string)) from++;
  while (to > from && set.has(chars[to - 1] as string)) to--;
  return chars.slice(from, to).join('');
}

function truncated(count: number, text: string): string {
  const length = byteLength(text);
  if (count < 0 && length + count > 0) return sliceBytes(text, length + count);
  return count >= 0 && length > count ? sliceBytes(text, 0, count) : text;
}

function substring(start: number, end: number, text: string): string {
  if (start < 0) return goSubstring(text, 0, end);
  return end < 0 || end > byteLength(text) ? goSubstring(text, start) : goSubstring(text, start, end);
}

const numbered = (parts: readonly string[]): GoMap =>
  new GoMap(new Map(parts.map((part, n) => [`_${n}`, part])), 'string');

/** The list sorted; a list of strings is sorted in place, as in Sprig. */
function sortAlpha(list: GoSlice, strings: string[]): GoSlice {
  const sorted = strings.sort(compareText);
  if (list.element !== 'string') return stringSlice(sorted);
  for (const [n, text] of sorted.entries()) list.items[n] = text;
  return list;
}

const MOST_LABEL = 63;

/** A text as the value of a Kubernetes label. */
function sanitizeLabel(text: string): string {
  const cut = Array.from(lowerCase(text).replace(/[^a-z0-9._-]+/g, '-'))
    .slice(0, MOST_LABEL)
    .join('');
  return cut.replace(/^[^a-z0-9]+/, '').replace(/[^a-z0-9]+$/, '');
}

const trimAll = fn(['string', 'string'], trimAny);

/** What looks at each character with several patterns takes as long for one as an action takes. */
const byCharacter = (change: (text: string) => string) =>
  fn(['string'], (text, { budget }) => {
    budget.step(text.length);
    return change(text);
  });

/** Sprig's functions for text. */
export const stringFunctions: Functions = {
  hello: fn([], () => 'Hello!'),
  abbrev: fn(['int', 'string'], (width, text) => (width < 4 ? text : abbreviate(text, 0, width))),
  abbrevboth: fn(['int', 'int', 'string'], (left, right, text) =>
    right < 4 || (left > 0 && right < 7) ? text : abbreviate(text, left, right),
  ),
  trunc: fn(['int', 'string'], truncated),
  trim: fn(['string'], (text) => text.replace(EDGE_SPACE, '')),
  upper: fn(['string'], upperCase),
  lower: fn(['string'], lowerCase),
  title: byCharacter(titleCase),
  untitle: byCharacter(uncapitalize),
  substr: fn(['int', 'int', 'string'], substring),
  repeat: fn(['int', 'string'], (count, text, { budget }) => repeatText(text, count, budget)),
  trimall: trimAll,
  trimAll,
  trimSuffix: fn(['string', 'string'], (end, text) =>
    end !== '' && text.endsWith(end) ? text.slice(0, -end.length) : text,
  ),
  trimPrefix: fn(['string', 'string'], (start, text) => (text.startsWith(start) ? text.slice(start.length) : text)),
  nospace: fn(['string'], withoutSpaces),
  initials: byCharacter(initials),
  swapcase: byCharacter(swapCase),
  snakecase: byCharacter((text) => joinedWords(text, '_')),
  kebabcase: byCharacter((text) => joinedWords(text, '-')),
  camelcase: byCharacter(camelCase),
  wrap: fn(['int', 'string'], (width, text) => wrapText(text, width, '', false)),
  wrapWith: fn(['int', 'string', 'string'], (width, separator, text) => wrapText(text, width, separator, true)),
  contains: fn(['string', 'string'], (part, text) => text.includes(part)),
  hasPrefix: fn(['string', 'string'], (start, text) => text.startsWith(start)),
  hasSuffix: fn(['string', 'string'], (end, text) => text.endsWith(end)),
  quote: variadic([], 'any', (values, { budget }) =>
    values
      .filter((value) => value !== null)
      .map((value) => goQuoted(stringOf(value, budget)))
      .join(' '),
  ),
  squote: variadic([], 'any', (values, { budget }) =>
    values
      .filter((value) => value !== null)
      .map((value) => `'${stringOf(value, budget)}'`)
      .join(' '),
  ),
  cat: variadic([], 'any', (values, { budget }) =>
    values
      .filter((value) => value !== null)
      .map((value) => stringOf(value, budget))
      .join(' '),
  ),
  indent: fn(['int', 'string'], (spaces, text, { budget }) => indentText(spaces, text, budget)),
  nindent: fn(['int', 'string'], (spaces, text, { budget }) => `\n${indentText(spaces, text, budget)}`),
  replace: fn(['string', 'string', 'string'], (old, by, text, { budget }) => replaceText(text, old, by, budget)),
  plural: fn(['string', 'string', 'int'], (one, many, count) => (count === 1 ? one : many)),
  toString: fn(['any'], (value, { budget }) => stringOf(value, budget)),
  toStrings: fn(['any'], (value, { budget }) => stringSlice(stringsOf(value, budget))),
  split: fn(['string', 'string'], (separator, text, { budget }) => {
    budget.step(text.length / 2);
    return numbered(splitText(text, separator));
  }),
  splitn: fn(['string', 'int', 'string'], (separator, most, text, { budget }) => {
    budget.step(text.length / 2);
    return numbered(splitText(text, separator, most));
  }),
  splitList: fn(['string', 'string'], (separator, text, { budget }) => {
    budget.step(text.length / 8);
    return stringSlice(splitText(text, separator));
  }),
  join: fn(['string', 'any'], (separator, list, { budget }) => {
    const strings = stringsOf(list, budget);
    budget.write(strings.reduce((sum, text) => sum + text.length + separator.length, 0));
    return strings.join(separator);
  }),
  sortAlpha: fn(['any'], (list, { budget }) =>
    list instanceof GoSlice ? sortAlpha(list, stringsOf(list, budget)) : stringSlice([stringOf(list, budget)]),
  ),
  sanitizeLabel: fn(['string'], sanitizeLabel),
};

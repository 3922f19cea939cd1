import { Fault } from '#core/fault.ts';
import { plainText } from '../fmt/print.ts';
import type { RenderBudget } from '../limits.ts';
import { byteLength, bytesOf, sliceBytes, textOfBytes } from '../value/bytes.ts';
import { GoSlice, type Value } from '../value/value.ts';

/** White space as unicode.IsSpace has it. */
export const SPACE = /[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;

/** As Sprig's strval: a string itself, anything else as `%v` prints it. */
export const stringOf = (value: Value, budget: RenderBudget): string =>
  typeof value === 'string' ? value : plainText(value, budget);

/** As Sprig's strslice: nils are left out; what is no list is a list of one. */
export function stringsOf(value: Value, budget: RenderBudget): string[] {
  if (value === null || value === undefined) return [];
  if (!(value instanceof GoSlice)) return [stringOf(value, budget)];
  budget.step(value.items.length);
  return value.items.filter((item) => item !== null && item !== undefined).map((item) => stringOf(item, budget));
}

const bounds = (text: string): Fault => new Fault('invalid', `runtime error: slice bounds out of range [${text}]`);

/** `text[from:to]` with the panics that Go has for bounds that do not fit. */
export function goSubstring(text: string, from: number, to?: number): string {
  const length = byteLength(text);
  if (to !== undefined && to < 0) throw bounds(`:${to}`);
  if (to !== undefined && to > length) {
    throw new Fault('invalid', `runtime error: slice bounds out of range [:${to}] with length ${length}`);
  }
  if (from > (to ?? length)) throw bounds(`${from}:${to ?? length}`);
  return sliceBytes(text, from, to);
}

// Some functions look at bytes as if each were a character.
export const toByteText = (text: string): string => bytesOf(text).toString('latin1');
export const fromByteText = (bytes: string): string => textOfBytes(Buffer.from(bytes, 'latin1'));

const isSingle = (text: string): boolean => text.length === 1 || (text.length === 2 && Array.from(text).length === 1);

/** One character mapped to one, as unicode.ToUpper and ToLower do: never to two. */
function mapped(text: string, map: (char: string) => string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: every ASCII character counts
  if (/^[\x00-\x7f]*$/.test(text)) return map(text);
  return Array.from(text, (char) => (isSingle(map(char)) ? map(char) : char)).join('');
}

export const upperCase = (text: string): string => mapped(text, (char) => char.toUpperCase());
export const lowerCase = (text: string): string => mapped(text, (char) => char.toLowerCase());

export function splitText(text: string, separator: string, most = -1): string[] {
  if (most === 0) return [];
  const parts = separator === '' ? Array.from(text) : text.split(separator);
  if (most < 0 || parts.length <= most) return parts;
  return [...parts.slice(0, most - 1), parts.slice(most - 1).join(separator)];
}

/** Every `old` replaced; an empty one stands before every character and at the end. */
export function replaceText(text: string, old: string, by: string, budget: RenderBudget): string {
  const parts = old === '' ? ['', ...Array.from(text), ''] : text.split(old);
  budget.write((parts.length - 1) * by.length);
  return parts.join(by);
}

export function repeatText(text: string, count: number, budget: RenderBudget): string {
  if (count < 0) throw new Fault('invalid', 'strings: negative Repeat count');
  budget.write(text.length * count);
  return text.repeat(count);
}

export function indentText(spaces: number, text: string, budget: RenderBudget): string {
  const padding = repeatText(' ', spaces, budget);
  return padding + replaceText(text, '\n', `\n${padding}`, budget);
}

export const stringSlice = (items: readonly string[]): GoSlice => new GoSlice([...items], 'string');

import { Fault } from '#core/fault.ts';
import { sprint, sprintln } from '../fmt/print.ts';
import { sprintf } from '../fmt/printf.ts';
import { isPrintable } from '../fmt/quote.ts';
import { byteLength, bytesOf, isAscii } from '../value/bytes.ts';
import { GoMap, GoSlice, Int, isTrue, typeName, type Value } from '../value/value.ts';
import { type Functions, fn, type GoFunction, type TemplateRun, variadic } from './function.ts';

function lengthOf(value: Value): number {
  if (typeof value === 'string') return byteLength(value);
  if (value instanceof GoMap) return value.entries.size;
  if (value instanceof GoSlice) return value.items.length;
  if (value === null) throw new Fault('invalid', 'len of nil pointer');
  if (value === undefined) throw new Fault('invalid', 'reflect: call of reflect.Value.Type on zero Value');
  throw new Fault('invalid', `len of type ${typeName(value)}`);
}

/** An index into a list or text. A place right behind the end passes here; Go panics there. */
function positionOf(index: Value, length: number, what: string): number {
  if (index === undefined || index === null) throw new Fault('invalid', 'cannot index slice/array with nil');
  const place = typeof index === 'number' ? index : index instanceof Int ? Number(index.value) : undefined;
  if (place === undefined) throw new Fault('invalid', `cannot index slice/array with type ${typeName(index)}`);
  if (place < 0 || place > length) throw new Fault('invalid', `index out of range: ${place}`);
  if (place === length) throw new Fault('invalid', `reflect: ${what} index out of range`);
  return place;
}

function entryOf(map: GoMap, key: Value): Value {
  if (key === undefined || key === null) throw new Fault('invalid', 'value is nil; should be of type string');
  if (typeof key !== 'string') throw new Fault('invalid', `value has type ${typeName(key)}; should be string`);
  const value = map.entries.get(key);
  if (value !== undefined || map.entries.has(key)) return value;
  return map.element === 'string' ? '' : null;
}

function indexOnce(item: Value, index: Value): Value {
  if (item === null || item === undefined) throw new Fault('invalid', 'index of nil pointer');
  if (item instanceof GoMap) return entryOf(item, index);
  if (item instanceof GoSlice) return item.items[positionOf(index, item.items.length, 'slice')];
  if (typeof item !== 'string') throw new Fault('invalid', `can't index item of type ${typeName(item)}`);
  const place = positionOf(index, byteLength(item), 'string');
  return new Int('uint8', BigInt(isAscii(item) ? item.charCodeAt(place) : (bytesOf(item)[place] as number)));
}

function index(item: Value, indexes: readonly Value[]): Value {
  if (item === undefined || item === null) throw new Fault('invalid', 'index of untyped nil');
  let found = item as Value;
  for (const one of indexes) found = indexOnce(found, one);
  return found;
}

// As in Go's other escapers, an argument without a value prints as one; a nil alone prints as nil.
const argumentText = (values: readonly Value[], { budget }: TemplateRun): string =>
  sprint(
    values.map((value) => value ?? '<no value>'),
    budget,
  );

const HTML: Readonly<Record<string, string>> = {
  '\0': '\ufffd',
  '"': '&#34;',
  "'": '&#39;',
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
};

const JS: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  "'": "\\'",
  '"': '\\"',
  '<': '\\u003C',
  '>': '\\u003E',
  '&': '\\u0026',
  '=': '\\u003D',
};

function jsChar(char: string): string {
  const named = JS[char];
  if (named !== undefined) return named;
  const code = char.codePointAt(0) ?? 0;
  const isSpecial = code < 0x20 || (code >= 0x80 && !isPrintable(char));
  return isSpecial ? `\\u${code.toString(16).toUpperCase().padStart(4, '0')}` : char;
}

/** As url.QueryEscape. */
const queryEscaped = (text: string): string =>
  Array.from(bytesOf(text), (byte) => {
    const char = String.fromCharCode(byte);
    if (/[A-Za-z0-9._~-]/.test(char)) return char;
    return char === ' ' ? '+' : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }).join('');

// The evaluator knows these two: it stops at the argument that decides.
const decides: GoFunction = { takes: ['value'], rest: 'value', stopsAt: true, give: () => undefined };

/** The functions that text/template has by itself, apart from comparisons. */
export const builtinFunctions: Functions = {
  and: decides,
  or: decides,
  not: fn(['value'], (value) => !isTrue(value)),
  len: fn(['value'], lengthOf),
  index: variadic(['value'], 'value', index),
  print: variadic([], 'any', (values, { budget }) => sprint(values, budget)),
  printf: variadic(['string'], 'any', (format, values, { budget }) => sprintf(format, values, budget)),
  println: variadic([], 'any', (values, { budget }) => sprintln(values, budget)),
  html: variadic([], 'any', (values, run) => {
    return argumentText(values, run).replace(/[\0"'&<>]/g, (char) => HTML[char] ?? char);
  }),
  js: variadic([], 'any', (values, run) => Array.from(argumentText(values, run), jsChar).join('')),
  urlquery: variadic([], 'any', (values, run) => queryEscaped(argumentText(values, run))),
  call: variadic(['value'], 'value', (value) => {
    if (value === undefined || value === null) throw new Fault('invalid', 'call of nil');
    throw new Fault('invalid', `non-function of type ${typeName(value)}`);
  }),
};

import type { RenderBudget } from '../limits.ts';
import { bytesOf } from '../value/bytes.ts';
import { GoStruct } from '../value/struct.ts';
import { Float, GoMap, type GoObject, GoSlice, Int, kindName, typeName, type Value } from '../value/value.ts';
import { formatFloat } from './float.ts';
import { plainText } from './print.ts';
import { cutRunes, goQuoted, isPrintable, quotedAscii, quotedRune } from './quote.ts';

/** Flags, width and precision of one verb. */
export interface Directive {
  readonly verb: string;
  readonly plus: boolean;
  readonly minus: boolean;
  readonly sharp: boolean;
  readonly space: boolean;
  readonly zero: boolean;
  readonly width: number | undefined;
  readonly precision: number | undefined;
}

function pad(text: string, { width, minus, zero }: Directive): string {
  if (width === undefined) return text;
  const missing = width - Array.from(text).length;
  if (missing <= 0) return text;
  if (minus) return text + ' '.repeat(missing);
  return (zero ? '0' : ' ').repeat(missing) + text;
}

const RADIX: Readonly<Record<string, number>> = { d: 10, v: 10, b: 2, o: 8, O: 8, x: 16, X: 16 };
const PREFIX: Readonly<Record<string, string>> = { b: '0b', o: '0', O: '0o', x: '0x', X: '0X' };

const signOf = (isNegative: boolean, { plus, space }: Directive): string =>
  isNegative ? '-' : plus ? '+' : space ? ' ' : '';

function integerDigits(magnitude: bigint, directive: Directive, sign: string): string {
  const { verb, precision, width, zero, minus } = directive;
  const digits = magnitude.toString(RADIX[verb] ?? 10);
  const shown = verb === 'X' ? digits.toUpperCase() : digits;
  if (precision !== undefined) return precision === 0 && magnitude === 0n ? '' : shown.padStart(precision, '0');
  return zero && !minus && width !== undefined ? shown.padStart(width - sign.length, '0') : shown;
}

function formatInteger(value: bigint, directive: Directive): string {
  const { verb, sharp } = directive;
  const sign = signOf(value < 0n, directive);
  const digits = integerDigits(value < 0n ? -value : value, directive, sign);
  // A precision of 0 with the value 0 prints nothing but the width.
  if (digits === '') return pad('', { ...directive, zero: false });
  const hasPrefix = verb === 'O' || (sharp && PREFIX[verb] !== undefined && !(verb === 'o' && digits.startsWith('0')));
  const text = `${sign}${hasPrefix ? PREFIX[verb] : ''}${digits}`;
  return pad(text, { ...directive, zero: false });
}

const toCharacter = (value: bigint): string =>
  value >= 0n && value <= 0x10ffffn && !(value >= 0xd800n && value <= 0xdfffn)
    ? String.fromCodePoint(Number(value))
    : '\ufffd';

function unicodeText(value: bigint, directive: Directive): string {
  const text = `U+${value
    .toString(16)
    .toUpperCase()
    .padStart(Math.max(4, directive.precision ?? 0), '0')}`;
  const char = toCharacter(value);
  return pad(directive.sharp && isPrintable(char) ? `${text} '${char}'` : text, { ...directive, zero: false });
}

function integerVerb(value: bigint, directive: Directive): string | undefined {
  switch (directive.verb) {
    case 'v':
    case 'd':
    case 'b':
    case 'o':
    case 'O':
    case 'x':
    case 'X':
      return formatInteger(value, directive);
    case 'c':
      return pad(toCharacter(value), directive);
    case 'q':
      return pad(quotedRune(toCharacter(value), directive.plus), directive);
    case 'U':
      return unicodeText(value, directive);
    default:
      return undefined;
  }
}

function sharpFloat(text: string, precision: number, verb: string): string {
  const [mantissa = '', exponent] = text.split(/(?=[eE])/);
  const wanted = verb === 'g' || verb === 'G' ? (precision < 0 ? 6 : precision) : 0;
  let digits = mantissa.includes('.') ? mantissa : `${mantissa}.`;
  const significant = digits.replace(/[-+.]/g, '').replace(/^0+/, '').length;
  if (wanted > significant) digits += '0'.repeat(wanted - significant);
  return `${digits}${exponent ?? ''}`;
}

/** The shortest hexadecimal form, as in `0x1.4p+01`. */
function hexFloat(value: number, directive: Directive): string {
  let exponent = value === 0 ? 0 : Math.floor(Math.log2(Math.abs(value)));
  let mantissa = value === 0 ? 0 : Math.abs(value) / 2 ** exponent;
  if (mantissa >= 2) {
    mantissa /= 2;
    exponent++;
  }
  const power = `p${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
  const text = `${signOf(value < 0 || Object.is(value, -0), directive)}0x${mantissa.toString(16)}${power}`;
  return pad(directive.verb === 'X' ? text.toUpperCase() : text, { ...directive, zero: false });
}

const FLOAT_FORMS: Readonly<Record<string, string>> = { v: 'g', F: 'f' };

/** Infinity keeps its sign, and neither it nor NaN is padded with zeros. */
function specialFloat(value: number, directive: Directive): string {
  const isNone = Number.isNaN(value);
  const sign = isNone ? signOf(false, directive) : signOf(value < 0, directive) || '+';
  return pad(sign + (isNone ? 'NaN' : 'Inf'), { ...directive, zero: false });
}

function floatVerb(value: number, directive: Directive): string | undefined {
  const { verb, precision, sharp } = directive;
  const isHex = (verb === 'x' || verb === 'X') && precision === undefined;
  if (!isHex && !'vgGeEfF'.includes(verb)) return undefined;
  if (!Number.isFinite(value)) return specialFloat(value, directive);
  if (isHex) return hexFloat(value, directive);
  const form = FLOAT_FORMS[verb] ?? verb;
  const places = precision ?? ('gG'.includes(form) ? -1 : 6);
  const digits = formatFloat(Math.abs(value), form, places);
  const text = sharp && verb !== 'v' ? sharpFloat(digits, places, form) : digits;
  const sign = signOf(value < 0 || Object.is(value, -0), directive);
  if (!directive.zero || directive.width === undefined) return pad(sign + text, directive);
  return sign + text.padStart(directive.width - sign.length, '0');
}

function hexText(text: string, { verb, space, sharp, precision }: Directive): string {
  const bytes = bytesOf(text).subarray(0, precision);
  const pairs = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0'));
  const prefix = sharp ? '0x' : '';
  const joined = space
    ? pairs.map((pair) => prefix + pair).join(' ')
    : (pairs.length > 0 ? prefix : '') + pairs.join('');
  return verb === 'X' ? joined.toUpperCase() : joined;
}

function quotedText(text: string, { sharp, plus }: Directive): string {
  if (sharp && !text.includes('`') && Array.from(text).every((char) => char === '\t' || isPrintable(char)))
    return `\`${text}\``;
  return plus ? quotedAscii(text) : goQuoted(text);
}

function stringVerb(text: string, directive: Directive): string | undefined {
  const { verb, precision, sharp } = directive;
  const cut = precision === undefined ? text : cutRunes(text, precision);
  switch (verb) {
    case 'v':
      return pad(sharp ? quotedText(cut, { ...directive, sharp: false }) : cut, directive);
    case 's':
      return pad(cut, directive);
    case 'q':
      return pad(quotedText(cut, directive), directive);
    case 'x':
    case 'X':
      return pad(hexText(text, directive), directive);
    default:
      return undefined;
  }
}

function bad(value: Value, directive: Directive, budget: RenderBudget): string {
  if (value === undefined || value === null) return `%!${directive.verb}(<nil>)`;
  return `%!${directive.verb}(${typeName(value)}=${plainText(value, budget)})`;
}

function elements(value: GoMap | GoSlice, directive: Directive, budget: RenderBudget): string {
  const form = (item: Value): string => formatElement(item, directive, budget);
  if (value instanceof GoSlice) {
    if (directive.verb === 'v' && directive.sharp) return sharpSlice(value, form);
    return `[${value.items.map(form).join(' ')}]`;
  }
  const keys = value.sortedKeys();
  if (directive.verb === 'v' && directive.sharp) return sharpMap(value, form);
  return `map[${keys.map((key) => `${form(key)}:${form(value.entries.get(key))}`).join(' ')}]`;
}

function sharpSlice(slice: GoSlice, form: (item: Value) => string): string {
  const type = typeName(slice);
  return slice.isNil ? `${type}(nil)` : `${type}{${slice.items.map(form).join(', ')}}`;
}

function sharpMap(map: GoMap, form: (item: Value) => string): string {
  const type = typeName(map);
  const entries = map.sortedKeys().map((key) => `${form(key)}:${form(map.entries.get(key))}`);
  return map.isNil ? `${type}(nil)` : `${type}{${entries.join(', ')}}`;
}

const nilText = (directive: Directive): string | undefined =>
  directive.verb === 'v' ? pad('<nil>', { ...directive, zero: false }) : undefined;

/** An element of a list or map: any verb prints a nil there. */
function formatElement(item: Value, directive: Directive, budget: RenderBudget): string {
  if (item !== undefined && item !== null) return formatValue(item, directive, budget);
  return directive.verb === 'v' && directive.sharp ? 'interface {}(nil)' : '<nil>';
}

function boolText(value: boolean, directive: Directive): string | undefined {
  return directive.verb === 't' || directive.verb === 'v' ? pad(String(value), directive) : undefined;
}

function scalar(value: Exclude<Value, GoMap | GoSlice>, directive: Directive): string | undefined {
  if (value === undefined || value === null) return nilText(directive);
  if (typeof value === 'boolean') return boolText(value, directive);
  if (typeof value === 'string') return stringVerb(value, directive);
  if (typeof value === 'number') return integerVerb(BigInt(value), directive);
  if (value instanceof Int) return integerVerb(value.value, directive);
  if (value instanceof Float) return floatVerb(value.value, directive);
  return objectVerb(value, directive);
}

const objectVerb = (value: GoObject, directive: Directive): string | undefined => {
  if (directive.verb === 'd' && kindName(value) === 'int') return integerVerb(BigInt(Number(value.content)), directive);
  return stringVerb(value.text, directive);
};

/** One value by one verb, or Go's complaint that the verb does not suit it. */
export function formatValue(value: Value, directive: Directive, budget: RenderBudget): string {
  budget.step(2);
  if (directive.verb === 'T') return stringVerb(typeName(value), { ...directive, verb: 's' }) ?? '';
  if (value instanceof GoStruct) return stringVerb(plainText(value, budget), { ...directive, verb: 's' }) ?? '';
  const text =
    value instanceof GoMap || value instanceof GoSlice ? composite(value, directive, budget) : scalar(value, directive);
  return text ?? bad(value, directive, budget);
}

function composite(value: GoMap | GoSlice, directive: Directive, budget: RenderBudget): string | undefined {
  const isBytes = value instanceof GoSlice && value.element === 'uint8';
  if (isBytes && 'sqxX'.includes(directive.verb)) return undefined;
  return elements(value, directive, budget);
}

import { beyond, type RenderBudget } from '../limits.ts';
import { Int, typeName, type Value } from '../value/value.ts';
import { plainText } from './print.ts';
import { type Directive, formatValue } from './verbs.ts';

const MOST_WIDTH = 1_000_000;

/** Where the reading of a format has come to. */
interface Reading {
  readonly format: string;
  readonly values: readonly Value[];
  readonly budget: RenderBudget;
  at: number;
  next: number;
  isReordered: boolean;
  isGoodIndex: boolean;
  out: string;
}

const FLAGS: Readonly<Record<string, 'plus' | 'minus' | 'sharp' | 'space' | 'zero'>> = {
  '+': 'plus',
  '-': 'minus',
  '#': 'sharp',
  ' ': 'space',
  '0': 'zero',
};

function readFlags(reading: Reading): Pick<Directive, 'plus' | 'minus' | 'sharp' | 'space' | 'zero'> {
  const flags = { plus: false, minus: false, sharp: false, space: false, zero: false };
  for (let flag = FLAGS[reading.format[reading.at] ?? '']; flag; flag = FLAGS[reading.format[reading.at] ?? '']) {
    flags[flag] = true;
    reading.at++;
  }
  return flags;
}

const DIGITS = /[0-9]*/y;

function readNumber(reading: Reading): number | undefined {
  DIGITS.lastIndex = reading.at;
  const [digits = ''] = DIGITS.exec(reading.format) ?? [];
  reading.at += digits.length;
  if (digits === '') return undefined;
  return Number(digits) <= MOST_WIDTH ? Number(digits) : undefined;
}

/** `[n]`: the argument that the next width, precision or verb takes. */
function readIndex(reading: Reading): boolean {
  if (reading.format[reading.at] !== '[') return false;
  reading.isReordered = true;
  const end = reading.format.indexOf(']', reading.at);
  if (end < 0) {
    reading.isGoodIndex = false;
    reading.at++;
    return false;
  }
  const inner = reading.format.slice(reading.at + 1, end);
  const index = /^[0-9]+$/.test(inner) ? Number(inner) : 0;
  reading.at = end + 1;
  if (index < 1 || index > reading.values.length) {
    reading.isGoodIndex = false;
    return false;
  }
  reading.next = index - 1;
  return true;
}

/** `*`: a width or precision that is an argument. */
function readStar(reading: Reading): number | undefined {
  reading.at++;
  const value = reading.values[reading.next];
  const isThere = reading.next < reading.values.length;
  if (isThere) reading.next++;
  const number = typeof value === 'number' ? value : value instanceof Int ? Number(value.value) : undefined;
  return isThere && number !== undefined && Math.abs(number) <= MOST_WIDTH ? number : undefined;
}

function readWidth(reading: Reading, flags: { minus: boolean; zero: boolean }): number | undefined {
  if (reading.format[reading.at] !== '*') return readNumber(reading);
  const width = readStar(reading);
  if (width === undefined) reading.out += '%!(BADWIDTH)';
  if (width === undefined || width >= 0) return width;
  flags.minus = true;
  flags.zero = false;
  return -width;
}

function readPrecision(reading: Reading): number | undefined {
  if (reading.format[reading.at] !== '.') return undefined;
  reading.at++;
  const hadIndex = readIndex(reading);
  if (reading.format[reading.at] !== '*') {
    if (hadIndex) reading.isGoodIndex = false;
    return readNumber(reading) ?? 0;
  }
  const precision = readStar(reading);
  if (precision === undefined || precision < 0) {
    if (precision === undefined) reading.out += '%!(BADPREC)';
    return undefined;
  }
  return precision;
}

function readDirective(reading: Reading): void {
  reading.isGoodIndex = true;
  const flags = readFlags(reading);
  let hadIndex = readIndex(reading);
  const widthAt = reading.at;
  const width = readWidth(reading, flags);
  if (reading.at > widthAt) {
    if (hadIndex && reading.format[widthAt] !== '*') reading.isGoodIndex = false;
    hadIndex = false;
  }
  const precision = readPrecision(reading);
  if (!hadIndex) readIndex(reading);
  const verb = String.fromCodePoint(reading.format.codePointAt(reading.at) ?? 0);
  if (reading.at >= reading.format.length) {
    reading.out += '%!(NOVERB)';
    return;
  }
  reading.at += verb.length;
  // With %v a plus asks for the names of fields, which no value here has.
  writeVerb(reading, {
    verb,
    ...flags,
    plus: flags.plus && verb !== 'v',
    zero: flags.zero && !flags.minus,
    width,
    precision,
  });
}

function writeVerb(reading: Reading, directive: Directive): void {
  if (directive.verb === '%') reading.out += '%';
  else if (!reading.isGoodIndex) reading.out += `%!${directive.verb}(BADINDEX)`;
  else if (reading.next >= reading.values.length) reading.out += `%!${directive.verb}(MISSING)`;
  else {
    if ((directive.width ?? 0) + (directive.precision ?? 0) > reading.budget.limits.characters)
      throw beyond('prints too wide a value');
    const text = formatValue(reading.values[reading.next++], directive, reading.budget);
    reading.budget.write(text.length);
    reading.out += text;
  }
}

function extra({ values, next, budget }: Reading): string {
  const shown = values.slice(next).map((value) => {
    if (value === undefined || value === null) return '<nil>';
    return `${typeName(value)}=${plainText(value, budget)}`;
  });
  return `%!(EXTRA ${shown.join(', ')})`;
}

/** As fmt.Sprintf, with its complaints about verbs and arguments that do not fit. */
export function sprintf(format: string, values: readonly Value[], budget: RenderBudget): string {
  const reading: Reading = { format, values, budget, at: 0, next: 0, isReordered: false, isGoodIndex: true, out: '' };
  while (reading.at < format.length) {
    const percent = format.indexOf('%', reading.at);
    const end = percent < 0 ? format.length : percent;
    reading.out += format.slice(reading.at, end);
    reading.at = end + 1;
    if (percent >= 0) readDirective(reading);
  }
  if (!reading.isReordered && reading.next < values.length) reading.out += extra(reading);
  return reading.out;
}

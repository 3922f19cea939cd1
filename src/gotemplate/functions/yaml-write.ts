// YAML as sigs.k8s.io/yaml writes it, which Helm's toYaml uses: keys sorted, lists not indented, lines folded at 80.
import { Fault } from '#core/fault.ts';
import { floatText } from '../fmt/float.ts';
import type { RenderBudget } from '../limits.ts';
import { hasStrayBytes } from '../value/bytes.ts';
import { fitsUint64 } from '../value/numbers.ts';
import { withoutStruct } from '../value/struct.ts';
import { Float, GoMap, GoSlice, Int, type Value } from '../value/value.ts';
import { escapedChar, styleOf } from './yaml-scalar.ts';

const WIDTH = 80;
const MOST_KEY = 128;

interface Writer {
  out: string;
  /** Counted along: to look for the last line feed would join the whole text again for each word. */
  column: number;
  readonly budget: RenderBudget;
}

function put(writer: Writer, text: string): void {
  writer.budget.write(text.length);
  writer.out += text;
  const lineFeedAt = text.lastIndexOf('\n');
  writer.column = lineFeedAt < 0 ? writer.column + text.length : text.length - lineFeedAt - 1;
}

const newLine = (indent: number): string => `\n${' '.repeat(indent)}`;

/** Writes a text with its long lines folded at blanks; each part is written by `form`. */
function putFolded(writer: Writer, text: string, indent: number | undefined, quote: '' | "'" | '"'): void {
  const form = (part: string): string => {
    if (quote === "'") return part.replaceAll("'", "''");
    return quote === '"' ? Array.from(part, escapedChar).join('') : part;
  };
  put(writer, quote);
  const words = text.split(' ');
  let { column } = writer;
  for (const [n, word] of words.entries()) {
    if (n > 0) column = putBlank(writer, { words, n, column, indent, quote });
    const shown = form(word);
    put(writer, shown);
    column += Array.from(shown).length;
  }
  put(writer, quote);
}

interface Blank {
  readonly words: readonly string[];
  readonly n: number;
  readonly column: number;
  readonly indent: number | undefined;
  readonly quote: string;
}

/** A blank between words, or a new line in its place; gives the column after it. */
function putBlank(writer: Writer, { words, n, column, indent, quote }: Blank): number {
  const isAfterBlank = words[n - 1] === '' && n > 1;
  const isFirst = n === 1 && words[0] === '';
  const isLast = n === words.length - 1 && words[n] === '';
  const isBeforeBlank = words[n] === '' && !isLast;
  const folds = indent !== undefined && column > WIDTH && !isAfterBlank && !isFirst && !isLast;
  if (!folds || (isBeforeBlank && quote !== '"')) {
    put(writer, ' ');
    return column + 1;
  }
  put(writer, newLine(indent) + (isBeforeBlank ? '\\' : ''));
  return indent + (isBeforeBlank ? 1 : 0);
}

function putLiteral(writer: Writer, text: string, indent: number): void {
  const hint = /^[ \n]/.test(text) ? '2' : '';
  const chomp = !text.endsWith('\n') ? '-' : text === '\n' || text.endsWith('\n\n') ? '+' : '';
  const lines = text.split('\n');
  // The line feed at the end is that which the next entry begins with.
  if (text.endsWith('\n')) lines.pop();
  put(writer, `|${hint}${chomp}`);
  for (const line of lines) put(writer, line === '' ? '\n' : newLine(indent) + line);
}

// What a YAML reader refuses: sigs.k8s.io/yaml reads back the JSON that it makes first.
const UNREADABLE = /[\u007f-\u0084\u0086-\u009f\ufffe\uffff]/;
// That reader takes these for line feeds, and loses them.
const LOST = /[\u0085\u2028\u2029]/;

function putString(writer: Writer, text: string, indent: number, isKey: boolean): void {
  if (UNREADABLE.test(text)) throw new Fault('invalid', 'yaml: control characters are not allowed');
  if (LOST.test(text))
    throw new Fault('unsupported', 'A text with U+0085, U+2028 or U+2029 cannot be written as YAML here.');
  if (hasStrayBytes(text))
    throw new Fault('unsupported', 'A text that is not valid UTF-8 cannot be written as YAML here.');
  const style = styleOf(text, isKey);
  const foldAt = isKey ? undefined : indent;
  if (style === 'literal') putLiteral(writer, text, indent);
  else if (style === 'plain') putFolded(writer, text, foldAt, '');
  else putFolded(writer, text, foldAt, style === 'single' ? "'" : '"');
}

function numberText(value: number): string {
  if (!Number.isFinite(value)) throw new Fault('invalid', 'error marshaling into JSON: json: unsupported value');
  const json = Object.is(value, -0) ? '-0' : String(value);
  if (/^-?\d+$/.test(json) && fitsUint64(BigInt(json.replace('-', '')))) return json === '-0' ? '0' : json;
  return floatText(value);
}

function putScalar(writer: Writer, value: Exclude<Value, GoMap | GoSlice>, indent: number): void {
  if (typeof value === 'string') putString(writer, value, indent, false);
  else if (value === undefined || value === null) put(writer, 'null');
  else if (value instanceof Float) put(writer, numberText(value.value));
  else if (value instanceof Int) put(writer, String(value.value));
  else if (typeof value === 'object') putScalar(writer, value.json ?? value.text, indent);
  else put(writer, String(value));
}

const isEmpty = (value: Value): boolean =>
  (value instanceof GoMap && value.entries.size === 0) || (value instanceof GoSlice && value.items.length === 0);

const emptyText = (value: GoMap | GoSlice): string => {
  if (value.isNil) return 'null';
  return value instanceof GoMap ? '{}' : '[]';
};

/** An element that stands behind `key:` or `-`. */
function putElement(writer: Writer, given: Value, indent: number, isInMap: boolean): void {
  const value = withoutStruct(given);
  writer.budget.step();
  if (!(value instanceof GoMap || value instanceof GoSlice)) {
    put(writer, ' ');
    putScalar(writer, value, indent + 2);
  } else if (isEmpty(value)) {
    put(writer, ` ${emptyText(value)}`);
  } else if (!isInMap) {
    put(writer, ' ');
    if (value instanceof GoMap) putMap(writer, value, indent + 2, true);
    else putSlice(writer, value, indent + 2, true);
  } else if (value instanceof GoMap) {
    putMap(writer, value, indent + 2, false);
  } else {
    putSlice(writer, value, indent, false);
  }
}

function putMap(writer: Writer, map: GoMap, indent: number, isInline: boolean): void {
  for (const [n, key] of [...map.entries.keys()].sort(compareKeys).entries()) {
    if (n > 0 || !isInline) put(writer, newLine(indent));
    if (/[\r\n]/.test(key) || Buffer.byteLength(key) > MOST_KEY) {
      throw new Fault(
        'unsupported',
        'A key with a line feed or of more than 128 bytes cannot be written as YAML here.',
      );
    }
    putString(writer, key, indent, true);
    put(writer, ':');
    putElement(writer, map.entries.get(key), indent, true);
  }
}

function putSlice(writer: Writer, slice: GoSlice, indent: number, isInline: boolean): void {
  for (const [n, item] of slice.items.entries()) {
    if (n > 0 || !isInline) put(writer, newLine(indent));
    put(writer, '-');
    putElement(writer, item, indent, false);
  }
}

const isLetter = (char: string): boolean => /^\p{L}$/u.test(char);
const isDigit = (char: string | undefined): boolean => char !== undefined && /^\p{Nd}$/u.test(char);

function numberFrom(chars: readonly string[], from: number): readonly [digits: number, end: number] {
  let end = from;
  while (isDigit(chars[end])) end++;
  return [Number(chars.slice(from, end).join('') || 0), end];
}

/** Whether digits before that place begin a number, so that a zero there counts. */
function isWithinNumber(chars: readonly string[], at: number): boolean {
  for (let n = at - 1; n >= 0 && isDigit(chars[n]); n--) if (chars[n] !== '0') return true;
  return false;
}

function compareAt(a: readonly string[], b: readonly string[], at: number): number {
  const [charA, charB] = [a[at] as string, b[at] as string];
  const order = (charA.codePointAt(0) ?? 0) - (charB.codePointAt(0) ?? 0);
  if (isLetter(charA) && isLetter(charB)) return order;
  if (isLetter(charA) || isLetter(charB)) return isLetter(charB) ? -1 : 1;
  const [numberA, endA] = numberFrom(a, at);
  const [numberB, endB] = numberFrom(b, at);
  const lead = (charA === '0' || charB === '0') && isWithinNumber(a, at);
  const valueA = lead ? Number(`1${a.slice(at, endA).join('')}`) : numberA;
  const valueB = lead ? Number(`1${b.slice(at, endB).join('')}`) : numberB;
  if (valueA !== valueB) return valueA - valueB;
  return endA !== endB ? endA - endB : order;
}

/** The order of keys: letters after all else, numbers within by their value. */
function compareKeys(a: string, b: string): number {
  const [charsA, charsB] = [Array.from(a), Array.from(b)];
  for (let n = 0; n < charsA.length && n < charsB.length; n++) {
    if (charsA[n] !== charsB[n]) return compareAt(charsA, charsB, n);
  }
  return charsA.length - charsB.length;
}

/** A value as YAML, without the line feed at the end. */
export function yamlText(given: Value, budget: RenderBudget): string {
  const value = withoutStruct(given);
  const writer: Writer = { out: '', column: 0, budget };
  if (value instanceof GoMap || value instanceof GoSlice) {
    if (isEmpty(value)) put(writer, emptyText(value));
    else if (value instanceof GoMap) putMap(writer, value, 0, true);
    else putSlice(writer, value, 0, true);
  } else {
    putScalar(writer, value, 2);
  }
  // A literal with blank lines at the end keeps its last line feed for itself; only that of the document is cut.
  return writer.out;
}

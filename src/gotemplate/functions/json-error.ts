// What encoding/json says of a text that is no JSON: the first byte that cannot stand where it stands, and where that is.
import { goQuoted } from '../fmt/quote.ts';
import { bytesOf } from '../value/bytes.ts';

/** How far a scalar goes, or what its last byte could not be part of. */
type Scanned = { readonly end: number; readonly wrong?: string };

/** The steps of a number or string: each takes as much as it can; the byte after it belongs to the next. */
function scanSteps(text: string, from: number, steps: readonly (readonly [RegExp, string])[]): Scanned {
  let end = from;
  for (const [pattern, wrong] of steps) {
    pattern.lastIndex = end;
    if (!pattern.test(text)) return { end, wrong };
    end = pattern.lastIndex;
  }
  return { end };
}

const DOT = 'after decimal point in numeric literal';
const EXPONENT = 'in exponent of numeric literal';

function scanNumber(text: string, from: number): Scanned {
  const whole = scanSteps(text, from, [
    [/-?/y, ''],
    [/0|[1-9]\d*/y, 'in numeric literal'],
  ]);
  if (whole.wrong !== undefined) return whole;
  const fraction = text[whole.end] === '.' ? scanSteps(text, whole.end + 1, [[/\d+/y, DOT]]) : whole;
  if (fraction.wrong !== undefined || !/[eE]/.test(text[fraction.end] ?? '')) return fraction;
  return scanSteps(text, fraction.end + 1, [
    [/[+-]?/y, ''],
    [/\d+/y, EXPONENT],
  ]);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: a string literal of JSON may hold none
const STRING = /"(?:[^\x00-\x1f"\\]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*/y;
const ESCAPE: readonly (readonly [RegExp, string])[] = [
  [/\\/y, 'in string literal'],
  [/u/y, 'in string escape code'],
  ...Array.from({ length: 4 }, () => [/[0-9a-fA-F]/y, 'in \\u hexadecimal character escape'] as const),
];

function scanString(text: string, from: number): Scanned {
  const { end } = scanSteps(text, from, [[STRING, '']]);
  return text[end] === '"' ? { end: end + 1 } : scanSteps(text, end, ESCAPE);
}

function scanWord(text: string, from: number, word: string): Scanned {
  let length = 1;
  while (length < word.length && text[from + length] === word[length]) length++;
  if (length === word.length) return { end: from + length };
  return { end: from + length, wrong: `in literal ${word} (expecting '${word[length]}')` };
}

const WORDS: Readonly<Record<string, string>> = { t: 'true', f: 'false', n: 'null' };

function scanScalar(text: string, from: number): Scanned {
  const first = text[from] ?? '';
  const word = WORDS[first];
  if (word !== undefined) return scanWord(text, from, word);
  if (first === '"') return scanString(text, from);
  if (/[-0-9]/.test(first)) return scanNumber(text, from);
  return { end: from, wrong: 'looking for beginning of value' };
}

interface Place {
  readonly open: string[];
  expects: 'value' | 'key' | 'colon' | 'end';
  /** Whether the list or map was just opened, and so may be closed. */
  isFresh: boolean;
}

const CLOSING: Readonly<Record<string, string>> = { '{': '}', '[': ']' };

const expectIn = (open: string): Place['expects'] => (open === '{' ? 'key' : 'value');

function scanComma(char: string, at: number, place: Place): Scanned {
  const inner = place.open.at(-1);
  if (inner === undefined) return { end: at, wrong: 'after top-level value' };
  place.expects = expectIn(inner);
  if (char === ',') return { end: at + 1 };
  return { end: at, wrong: inner === '{' ? 'after object key:value pair' : 'after array element' };
}

function scanColon(char: string, at: number, place: Place): Scanned {
  place.expects = 'value';
  return char === ':' ? { end: at + 1 } : { end: at, wrong: 'after object key' };
}

/** A list or map that begins or ends there. */
function scanBracket(char: string, at: number, place: Place): Scanned | undefined {
  const mayClose = place.expects === 'end' || place.isFresh;
  place.isFresh = false;
  if (mayClose && CLOSING[place.open.at(-1) ?? ''] === char) {
    place.open.pop();
    place.expects = 'end';
    return { end: at + 1 };
  }
  if (place.expects !== 'value' || CLOSING[char] === undefined) return undefined;
  place.open.push(char);
  place.expects = expectIn(char);
  place.isFresh = true;
  return { end: at + 1 };
}

/** Reads on from a byte that is no space. */
function scanNext(text: string, at: number, place: Place): Scanned {
  const char = text[at] ?? '';
  const bracket = scanBracket(char, at, place);
  if (bracket) return bracket;
  const { expects } = place;
  if (expects === 'end') return scanComma(char, at, place);
  if (expects === 'colon') return scanColon(char, at, place);
  if (expects === 'key' && char !== '"') return { end: at, wrong: 'looking for beginning of object key string' };
  place.expects = expects === 'key' ? 'colon' : 'end';
  return scanScalar(text, at);
}

const byteText = (byte: string): string =>
  byte === "'" ? `'\\''` : byte === '"' ? `'"'` : `'${goQuoted(byte).slice(1, -1)}'`;

/** The message for a text that is no JSON. */
export function jsonError(given: string): string {
  // Go ends a text with a blank, and names that blank where it cannot stand.
  const text = `${bytesOf(given).toString('latin1')} `;
  const place: Place = { open: [], expects: 'value', isFresh: false };
  for (let at = 0; ; ) {
    at = scanSteps(text, at, [[/[ \t\r\n]*/y, '']]).end;
    if (at >= text.length) return 'unexpected end of JSON input';
    const { end, wrong } = scanNext(text, at, place);
    const byte = text[end];
    if (wrong !== undefined && byte !== undefined) return `invalid character ${byteText(byte)} ${wrong}`;
    at = end;
  }
}

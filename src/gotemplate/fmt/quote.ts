import { Fault } from '#core/fault.ts';
import { bytesOf, textOfBytes } from '../value/bytes.ts';

// As unicode.IsPrint: letters, marks, numbers, punctuation, symbols and the ASCII space.
const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;
const NAMED: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
};

export const isPrintable = (char: string): boolean => PRINTABLE.test(char);

const hex = (code: number, width: number): string => code.toString(16).padStart(width, '0');

function escapeOf(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  if (code >= 0xdc80 && code <= 0xdcff) return `\\x${hex(code - 0xdc00, 2)}`;
  if (code >= 0xd800 && code <= 0xdfff) return '\\ufffd';
  if (code < 0x20 || code === 0x7f) return `\\x${hex(code, 2)}`;
  return code < 0x10000 ? `\\u${hex(code, 4)}` : `\\U${hex(code, 8)}`;
}

function quoteWith(text: string, quote: string, onlyAscii: boolean): string {
  let out = quote;
  for (const char of text) {
    if (char === quote) out += `\\${quote}`;
    else if (NAMED[char] !== undefined) out += NAMED[char];
    else if (isPrintable(char) && !(onlyAscii && char > '\x7f')) out += char;
    else out += escapeOf(char);
  }
  return out + quote;
}

const PLAIN = /^[ !#-[\]-~]*$/;

/** As strconv.Quote. */
export const goQuoted = (text: string): string => (PLAIN.test(text) ? `"${text}"` : quoteWith(text, '"', false));
export const quotedAscii = (text: string): string => quoteWith(text, '"', true);
export const quotedRune = (char: string, onlyAscii = false): string => quoteWith(char, "'", onlyAscii);

const invalid = (): Fault => new Fault('invalid', 'invalid syntax');

const SIMPLE: Readonly<Record<string, number>> = {
  a: 7,
  b: 8,
  f: 12,
  n: 10,
  r: 13,
  t: 9,
  v: 11,
  '\\': 0x5c,
  "'": 0x27,
  '"': 0x22,
};
const HEX_WIDTHS: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

const QUOTES: ReadonlySet<string> = new Set(['"', "'"]);

export interface Unescaped {
  /** A byte, where the escape names one, or a character. */
  readonly bytes: Uint8Array;
  readonly code: number;
  readonly end: number;
}

const asCharacter = (code: number, end: number): Unescaped => ({
  bytes: Buffer.from(String.fromCodePoint(code)),
  code,
  end,
});

function numericEscape(digits: string, radix: number, isByte: boolean, end: number): Unescaped {
  const pattern = radix === 8 ? /^[0-7]+$/ : /^[0-9a-fA-F]+$/;
  if (!pattern.test(digits)) throw invalid();
  const code = Number.parseInt(digits, radix);
  if (isByte) {
    if (code > 0xff) throw invalid();
    return { bytes: Uint8Array.of(code), code, end };
  }
  if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) throw invalid();
  return asCharacter(code, end);
}

/** The character or escape at that place, as strconv.UnquoteChar reads it. */
export function unescapeAt(text: string, at: number, quote: string): Unescaped {
  const code = text.codePointAt(at);
  if (code === undefined) throw invalid();
  if (text[at] !== '\\') {
    if (text[at] === quote) throw invalid();
    return asCharacter(code, at + (code > 0xffff ? 2 : 1));
  }
  return escapeAt(text, at, quote);
}

function escapeAt(text: string, at: number, quote: string): Unescaped {
  const letter = text[at + 1] ?? '';
  const isOctal = letter >= '0' && letter <= '7';
  const width = HEX_WIDTHS[letter] ?? (isOctal ? 3 : undefined);
  if (width !== undefined) {
    const from = at + (isOctal ? 1 : 2);
    const digits = text.slice(from, from + width);
    if (digits.length < width) throw invalid();
    return numericEscape(digits, isOctal ? 8 : 16, isOctal || letter === 'x', from + width);
  }
  const simple = SIMPLE[letter];
  // Within one kind of quotes the other kind is not escaped.
  if (simple === undefined || (letter !== quote && QUOTES.has(letter))) throw invalid();
  return asCharacter(simple, at + 2);
}

/** As strconv.Unquote, of a text with its quotes. */
export function unquoted(text: string): string {
  const inner = text.slice(1, -1);
  if (text[0] === '`') return inner.replaceAll('\r', '');
  if (!inner.includes('\\')) return inner;
  const parts: Uint8Array[] = [];
  for (let at = 0; at < inner.length; ) {
    const part = unescapeAt(inner, at, '"');
    parts.push(part.bytes);
    at = part.end;
  }
  return textOfBytes(Buffer.concat(parts));
}

/** The text cut to that many characters, as a precision does. */
export const cutRunes = (text: string, most: number): string => Array.from(text).slice(0, most).join('');

export const hexOf = (text: string): string => bytesOf(text).toString('hex');

// How a text stands in YAML, as the Go library yaml v2 writes it: plain where it reads back as the same text.
import { parseFloat64, parseInteger } from '../value/numbers.ts';

const WORDS = new Set(
  'y Y yes Yes YES true True TRUE on On ON n N no No NO false False FALSE off Off OFF ~ null Null NULL .nan .NaN .NAN .inf .Inf .INF +.inf +.Inf +.INF -.inf -.Inf -.INF'.split(
    ' ',
  ),
);
const FLOAT = /^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/;
const BASE_60 = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/;
const TIMESTAMP =
  /^(\d{4})-(\d{1,2})-(\d{1,2})(?:[Tt](\d{1,2}):(\d{1,2}):(\d{1,2})(\.\d+)?(Z|[+-]\d{2}:\d{2})| (\d{1,2}):(\d{1,2}):(\d{1,2})(\.\d+)?)?$/;

function isTimestamp(text: string): boolean {
  const match = TIMESTAMP.exec(text);
  if (!match) return false;
  const [, year = '0', month = '0', day = '0'] = match;
  const date = new Date(Date.UTC(2000, Number(month) - 1, Number(day)));
  date.setUTCFullYear(Number(year));
  const [hour, minute, second] = [match[4] ?? match[9], match[5] ?? match[10], match[6] ?? match[11]].map(Number);
  const isTime = !((hour ?? 0) > 23 || (minute ?? 0) > 59 || (second ?? 0) > 59);
  return isTime && date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day);
}

/** Whether a reader would take the plain text for something else than a text. */
function readsAsOther(text: string): boolean {
  if (text === '' || WORDS.has(text)) return true;
  const first = text[0] as string;
  if (first === '.') return parseFloat64(text) !== undefined;
  if (!/[-+0-9]/.test(first)) return false;
  const plain = text.replaceAll('_', '');
  const integer = parseInteger(plain);
  const isInteger = integer !== undefined && integer >= -(2n ** 63n) && integer < 2n ** 64n;
  return isInteger || FLOAT.test(plain) || isTimestamp(text) || BASE_60.test(text);
}

interface Analysis {
  readonly allowsPlain: boolean;
  readonly allowsSingle: boolean;
  readonly allowsBlock: boolean;
}

// Tabs, other control characters and whatever is beyond the basic plane are written as escapes.
const PRINTABLE = /^[\n\x20-\x7e\u00a0-\ud7ff\ue000-\ufefe\uff00-\ufffd]$/;

const isSpecial = (text: string): boolean => Array.from(text).some((char) => !PRINTABLE.test(char));

function analyze(text: string): Analysis {
  const isEdged = /^[ \n]|[ \n]$/.test(text);
  const hasIndicator =
    /^(---|\.\.\.)/.test(text) ||
    /^[#,[\]{}&*!|>'"%@`]/.test(text) ||
    /^[?:-]($|[ \t])/.test(text) ||
    /:($|[ \t])/.test(text) ||
    /[\s\u0085\u2028\u2029]#/.test(text);
  const isBroken = / \n/.test(text) || isSpecial(text);
  return {
    allowsPlain: !(isEdged || hasIndicator || isBroken || text.includes('\n')),
    allowsSingle: !(isBroken || /\n /.test(text)),
    allowsBlock: !(isBroken || text.endsWith(' ')),
  };
}

export type ScalarStyle = 'plain' | 'single' | 'double' | 'literal';

export function styleOf(text: string, isKey: boolean): ScalarStyle {
  const { allowsPlain, allowsSingle, allowsBlock } = analyze(text);
  if (text.includes('\n')) return allowsBlock && !isKey ? 'literal' : 'double';
  if (readsAsOther(text)) return 'double';
  if (allowsPlain) return 'plain';
  return allowsSingle ? 'single' : 'double';
}

const ESCAPES: Readonly<Record<number, string>> = {
  0: '0',
  7: 'a',
  8: 'b',
  9: 't',
  10: 'n',
  11: 'v',
  12: 'f',
  13: 'r',
  27: 'e',
  34: '"',
  92: '\\',
  133: 'N',
  160: '_',
  8232: 'L',
  8233: 'P',
};

/** A character within double quotes. */
export function escapedChar(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  const isPlain = PRINTABLE.test(char) && !'"\\\n\u2028\u2029\ufeff'.includes(char);
  if (isPlain) return char;
  const named = ESCAPES[code];
  if (named !== undefined) return `\\${named}`;
  const hex = code.toString(16).toUpperCase();
  if (code <= 0xff) return `\\x${hex.padStart(2, '0')}`;
  return code <= 0xffff ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`;
}

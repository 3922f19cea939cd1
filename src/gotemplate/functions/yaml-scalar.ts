// How a text stands in YAML, as the Go library yaml v2 writes it: plain where it reads back as the same text.
import { isTimestamp, plainValue } from './yaml-resolve.ts';

// yaml v2 reads such a number as a text, and quotes it for the sake of other readers.
const BASE_60 = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/;

/** Whether a reader would take the plain text for something else than a text. */
const readsAsOther = (text: string): boolean =>
  typeof plainValue(text) !== 'string' || isTimestamp(text) || BASE_60.test(text);

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

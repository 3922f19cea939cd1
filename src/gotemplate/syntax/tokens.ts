import { goQuoted } from '../fmt/quote.ts';

export const KEYWORDS = [
  'block',
  'break',
  'continue',
  'define',
  'else',
  'end',
  'if',
  'nil',
  'range',
  'template',
  'with',
] as const;

export type TokenType =
  | 'error'
  | 'bool'
  | 'char'
  | 'char constant'
  | 'complex'
  | 'assign'
  | 'declare'
  | 'eof'
  | 'field'
  | 'identifier'
  | 'left delimiter'
  | 'left parenthesis'
  | 'number'
  | 'pipe'
  | 'raw string'
  | 'right delimiter'
  | 'right parenthesis'
  | 'space'
  | 'string'
  | 'text'
  | 'variable'
  | 'dot'
  | (typeof KEYWORDS)[number];

export interface Token {
  readonly type: TokenType;
  /** Where it begins, in characters of the text. */
  readonly at: number;
  readonly value: string;
  readonly line: number;
}

const KEYWORD_SET: ReadonlySet<string> = new Set([...KEYWORDS, 'dot']);
export const isKeyword = (word: string): word is (typeof KEYWORDS)[number] => KEYWORD_SET.has(word) && word !== 'dot';

const SHOWN = 10;

/** The token as Go's messages show it. */
export function tokenText({ type, value }: Token): string {
  if (type === 'eof') return 'EOF';
  if (type === 'error') return value;
  if (KEYWORD_SET.has(type)) return `<${value}>`;
  if (Buffer.byteLength(value) > SHOWN) return `${goQuoted(Array.from(value).slice(0, SHOWN).join(''))}...`;
  return goQuoted(value);
}

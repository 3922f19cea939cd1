import { goQuoted, isPrintable } from '../fmt/quote.ts';
import { isWordAt, scanNumber } from './number-scan.ts';
import { isKeyword, type Token, type TokenType } from './tokens.ts';

const LEFT = '{{';
const RIGHT = '}}';
const SPACES = ' \t\r\n';
const WORDS = /[\p{L}\p{Nd}_]*/uy;

export interface Lexer {
  next(): Token;
}

const isSpace = (char: string | undefined): boolean => char !== undefined && char !== '' && SPACES.includes(char);

function unicodeName(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  const shown = isPrintable(char) ? ` '${char}'` : '';
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}${shown}`;
}

const QUOTES: Readonly<Record<string, readonly [TokenType, string]>> = {
  '"': ['string', 'quoted string'],
  '`': ['raw string', 'raw quoted string'],
  "'": ['char constant', 'character constant'],
};

const SYMBOLS: Readonly<Record<string, TokenType>> = { ':=': 'declare', '=': 'assign', '|': 'pipe' };

/** Splits a template into tokens as text/template does; after an error every token is an end. */
export function openLexer(text: string): Lexer {
  let at = 0;
  let start = 0;
  let isInside = false;
  let parentheses = 0;
  let isDone = false;
  let countedTo = 0;
  let line = 1;

  function lineOf(place: number): number {
    for (let next = text.indexOf('\n', countedTo); next >= 0 && next < place; next = text.indexOf('\n', countedTo)) {
      line++;
      countedTo = next + 1;
    }
    return line;
  }

  function emit(type: TokenType): Token {
    const token = { type, at: start, value: text.slice(start, at), line: lineOf(start) };
    start = at;
    return token;
  }

  function fail(value: string): Token {
    isDone = true;
    return { type: 'error', at: start, value, line: lineOf(start) };
  }

  const skipTo = (place: number): void => {
    at = place;
    start = place;
  };

  const charAt = (place: number): string => {
    const code = text.codePointAt(place);
    return code === undefined ? '' : String.fromCodePoint(code);
  };

  /** How long the closing delimiter at that place is, with its trim marker; 0 where there is none. */
  function rightDelimiterAt(place: number): number {
    if (isSpace(text[place]) && text[place + 1] === '-' && text.startsWith(RIGHT, place + 2)) return 4;
    return text.startsWith(RIGHT, place) ? 2 : 0;
  }

  function skipSpaces(place: number): number {
    let end = place;
    while (isSpace(text[end])) end++;
    return end;
  }

  const hasLeftTrim = (place: number): boolean => text[place] === '-' && isSpace(text[place + 1]);

  function lexComment(place: number): Token | undefined {
    skipTo(place);
    const end = text.indexOf('*/', place + 2);
    if (end < 0) return fail('unclosed comment');
    const delimiter = rightDelimiterAt(end + 2);
    if (delimiter === 0) return fail('comment ends before closing delimiter');
    const after = end + 2 + delimiter;
    skipTo(delimiter === 4 ? skipSpaces(after) : after);
    return undefined;
  }

  /** The text before an action; nothing where a trim marker leaves nothing. */
  function textBefore(action: number): Token | undefined {
    let end = action;
    if (hasLeftTrim(action + 2)) while (end > start && isSpace(text[end - 1])) end--;
    at = end;
    const token = emit('text');
    skipTo(action);
    return token.value === '' ? undefined : token;
  }

  function lexLeftDelimiter(action: number): Token | undefined {
    const marker = hasLeftTrim(action + 2) ? 2 : 0;
    if (text.startsWith('/*', action + 2 + marker)) return lexComment(action + 2 + marker);
    at = action + 2;
    const token = emit('left delimiter');
    skipTo(at + marker);
    isInside = true;
    parentheses = 0;
    return token;
  }

  /** Text up to the next action; undefined where a comment was skipped. */
  function lexText(): Token | undefined {
    const action = text.indexOf(LEFT, at);
    if (action >= 0) return (action > at ? textBefore(action) : undefined) ?? lexLeftDelimiter(action);
    at = text.length;
    return emit(at > start ? 'text' : 'eof');
  }

  function lexRightDelimiter(length: number): Token {
    if (length === 4) skipTo(at + 2);
    at += 2;
    const token = emit('right delimiter');
    if (length === 4) skipTo(skipSpaces(at));
    isInside = false;
    return token;
  }

  function lexSpace(): Token {
    const first = at;
    at = skipSpaces(at);
    // The last space may belong to a trim marker.
    if (rightDelimiterAt(at - 1) === 4) {
      at--;
      if (at === first) return lexRightDelimiter(4);
    }
    return emit('space');
  }

  function isTerminated(): boolean {
    const char = text[at];
    return char === undefined || isSpace(char) || '.,|:)('.includes(char) || text.startsWith(RIGHT, at);
  }

  function lexWord(type: 'field' | 'variable' | 'identifier'): Token {
    WORDS.lastIndex = at;
    WORDS.test(text);
    at = WORDS.lastIndex;
    if (!isTerminated()) return fail(`bad character ${unicodeName(charAt(at))}`);
    if (type !== 'identifier') return emit(type);
    const word = text.slice(start, at);
    if (isKeyword(word)) return emit(word);
    return emit(word === 'true' || word === 'false' ? 'bool' : 'identifier');
  }

  function lexSigil(type: 'field' | 'variable'): Token {
    at++;
    if (isTerminated()) return emit(type === 'variable' ? 'variable' : 'dot');
    return lexWord(type);
  }

  function lexQuoted(quote: string, type: TokenType, what: string): Token {
    for (at++; at < text.length; at++) {
      const char = text[at];
      if (char === quote) {
        at++;
        return emit(type);
      }
      if (quote !== '`' && char === '\\') at++;
      if (quote !== '`' && (text[at] === '\n' || at >= text.length)) break;
    }
    return fail(`unterminated ${what}`);
  }

  function lexNumber(): Token {
    const first = scanNumber(text, at);
    at = first.end;
    const isComplex = first.isGood && (text[at] === '+' || text[at] === '-');
    const last = isComplex ? scanNumber(text, at) : first;
    at = last.end;
    if (last.isGood && (!isComplex || text[at - 1] === 'i')) return emit(isComplex ? 'complex' : 'number');
    return fail(`bad number syntax: ${goQuoted(text.slice(start, at))}`);
  }

  function lexParenthesis(change: 1 | -1): Token {
    parentheses += change;
    at++;
    if (parentheses < 0) return fail('unexpected right paren');
    return emit(change > 0 ? 'left parenthesis' : 'right parenthesis');
  }

  function lexSymbol(char: string): Token {
    if (char === '(') return lexParenthesis(1);
    if (char === ')') return lexParenthesis(-1);
    const symbol = char === ':' ? text.slice(at, at + 2) : char;
    at += symbol.length;
    const type = SYMBOLS[symbol];
    if (type) return emit(type);
    if (char === ':') return fail('expected :=');
    return char >= ' ' && char <= '~' ? emit('char') : fail(`unrecognized character in action: ${unicodeName(char)}`);
  }

  function lexOperand(char: string): Token {
    const quote = QUOTES[char];
    if (quote) return lexQuoted(char, ...quote);
    if (char === '$') return lexSigil('variable');
    const next = text[at + 1];
    if (char === '.' && next !== undefined && (next < '0' || next > '9')) return lexSigil('field');
    if (char === '.' || char === '+' || char === '-' || (char >= '0' && char <= '9')) return lexNumber();
    return isWordAt(text, at) ? lexWord('identifier') : lexSymbol(char);
  }

  function lexInside(): Token {
    const delimiter = rightDelimiterAt(at);
    if (delimiter > 0) return parentheses === 0 ? lexRightDelimiter(delimiter) : fail('unclosed left paren');
    const char = charAt(at);
    if (char === '') return fail('unclosed action');
    return isSpace(char) ? lexSpace() : lexOperand(char);
  }

  return {
    next() {
      if (isDone) return { type: 'eof', at: 0, value: 'EOF', line };
      for (;;) {
        const token = isInside ? lexInside() : lexText();
        if (token) return token;
      }
    },
  };
}

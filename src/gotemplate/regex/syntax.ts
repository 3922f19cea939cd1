import { Fault } from '#core/fault.ts';

/** What a part of a pattern matches. */
export type PatternPart =
  | { readonly kind: 'char'; readonly source: string; readonly folds: boolean }
  | { readonly kind: 'assert'; readonly what: Assertion }
  | { readonly kind: 'all'; readonly parts: readonly PatternPart[] }
  | { readonly kind: 'either'; readonly parts: readonly PatternPart[] }
  | {
      readonly kind: 'repeat';
      readonly part: PatternPart;
      readonly least: number;
      readonly most: number;
      readonly isGreedy: boolean;
    }
  | { readonly kind: 'group'; readonly part: PatternPart; readonly index: number };

export type Assertion = 'text start' | 'text end' | 'line start' | 'line end' | 'word' | 'no word';

/** A pattern that was read: its parts, and the names of its groups by number. */
export interface Pattern {
  readonly part: PatternPart;
  readonly groups: readonly string[];
}

interface Flags {
  readonly i: boolean;
  readonly m: boolean;
  readonly s: boolean;
  readonly U: boolean;
}

interface Reading {
  readonly text: string;
  at: number;
  flags: Flags;
  depth: number;
  readonly groups: string[];
}

const bad = (what: string, source: string): Fault =>
  new Fault('invalid', `error parsing regexp: ${what}: \`${source}\``);

const DEEPEST = 200;
const MOST_REPEATS = 1000;

/** Reads a pattern in the syntax of RE2, as Go's regexp does; what Go refuses is refused in its words. */
export function readPattern(text: string): Pattern {
  const reading: Reading = { text, at: 0, flags: { i: false, m: false, s: false, U: false }, depth: 0, groups: [''] };
  const part = readAlternatives(reading);
  if (reading.at < text.length) throw bad('unexpected )', text);
  return { part, groups: reading.groups };
}

function readAlternatives(reading: Reading): PatternPart {
  if (reading.depth > DEEPEST) throw bad('expression nests too deeply', reading.text);
  const options: PatternPart[] = [readSequence(reading)];
  while (reading.text[reading.at] === '|') {
    reading.at++;
    options.push(readSequence(reading));
  }
  return options.length === 1 ? (options[0] as PatternPart) : { kind: 'either', parts: options };
}

function readSequence(reading: Reading): PatternPart {
  const parts: PatternPart[] = [];
  while (reading.at < reading.text.length && !'|)'.includes(reading.text[reading.at] as string)) {
    const from = reading.at;
    const atom = readAtom(reading);
    if (atom) parts.push(readRepeats(reading, atom, from));
  }
  return { kind: 'all', parts };
}

const REPEAT = /\*|\+|\?|\{(\d+)(,(\d*))?\}/y;

interface Repeat {
  readonly least: number;
  readonly most: number;
  readonly source: string;
}

function repeatAt({ text, at }: Reading): Repeat | undefined {
  REPEAT.lastIndex = at;
  const match = REPEAT.exec(text);
  if (!match) return undefined;
  const [source, low, comma, high] = match;
  if (low === undefined) {
    return { least: source === '+' ? 1 : 0, most: source === '?' ? 1 : Number.POSITIVE_INFINITY, source };
  }
  const least = Number(low);
  const most = comma === undefined ? least : high ? Number(high) : Number.POSITIVE_INFINITY;
  if (least > MOST_REPEATS || (most > MOST_REPEATS && Number.isFinite(most)) || least > most) {
    throw bad('invalid repeat count', source);
  }
  return { least, most, source };
}

function readRepeats(reading: Reading, atom: PatternPart, from: number): PatternPart {
  const repeat = repeatAt(reading);
  if (!repeat) return atom;
  reading.at += repeat.source.length;
  const isLazy = reading.text[reading.at] === '?';
  if (isLazy) reading.at++;
  const second = repeatAt(reading);
  if (second) {
    const end = reading.at + second.source.length + (reading.text[reading.at + second.source.length] === '?' ? 1 : 0);
    throw bad(
      'invalid nested repetition operator',
      reading.text.slice(from + lengthBefore(reading, from, repeat, isLazy), end),
    );
  }
  // Repeats within repeats multiply; Go allows a thousand in all.
  if (repeat.source.startsWith('{') && repeatsOf(atom) * countOf(repeat) > MOST_REPEATS) {
    throw bad('invalid repeat count', repeat.source + (isLazy ? '?' : ''));
  }
  const isGreedy = isLazy === reading.flags.U;
  return { kind: 'repeat', part: atom, least: repeat.least, most: repeat.most, isGreedy };
}

/** How often a repeat repeats, where it says so. */
const countOf = ({ least, most }: { least: number; most: number }): number =>
  Math.max(1, Number.isFinite(most) ? most : least);

/** The largest product of repeats within each other. */
function repeatsOf(part: PatternPart): number {
  if (part.kind === 'all' || part.kind === 'either') return Math.max(1, ...part.parts.map(repeatsOf));
  if (part.kind === 'group') return repeatsOf(part.part);
  return part.kind === 'repeat' ? countOf(part) * repeatsOf(part.part) : 1;
}

const lengthBefore = (reading: Reading, from: number, repeat: Repeat, isLazy: boolean): number =>
  reading.at - from - repeat.source.length - (isLazy ? 1 : 0);

const char = (reading: Reading, source: string): PatternPart => ({ kind: 'char', source, folds: reading.flags.i });
const assert = (what: Assertion): PatternPart => ({ kind: 'assert', what });

export const escapeSource = (one: string): string => one.replace(/[\\^$.*+?()[\]{}|/-]/u, '\\$&');

function readAtom(reading: Reading): PatternPart | undefined {
  const { text, flags } = reading;
  const one = String.fromCodePoint(text.codePointAt(reading.at) as number);
  const repeat = repeatAt(reading);
  if (repeat) throw bad('missing argument to repetition operator', repeat.source);
  switch (one) {
    case '(':
      return readGroup(reading);
    case '[':
      return readClass(reading);
    case '\\':
      return readEscape(reading);
    case '.':
      reading.at++;
      return char(reading, flags.s ? '\\s\\S' : '^\\n');
    case '^':
      reading.at++;
      return assert(flags.m ? 'line start' : 'text start');
    case '$':
      reading.at++;
      return assert(flags.m ? 'line end' : 'text end');
    default:
      reading.at += one.length;
      return char(reading, escapeSource(one));
  }
}

const NAMED = /\(\?P?<([^>]*)>/y;
const FLAGGED = /\(\?([imsU]*)(?:-([imsU]+))?([:)])/y;

function matchAt(pattern: RegExp, { text, at }: Reading): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

function flagsOf(flags: Flags, on: string, off: string): Flags {
  const value = (flag: keyof Flags): boolean => (on.includes(flag) || flags[flag]) && !off.includes(flag);
  return { i: value('i'), m: value('m'), s: value('s'), U: value('U') };
}

function readGroup(reading: Reading): PatternPart | undefined {
  if (!reading.text.startsWith('(?', reading.at)) return capture(reading, 1, '');
  const named = matchAt(NAMED, reading);
  if (named) {
    const [whole, name = ''] = named;
    if (!/^[A-Za-z0-9_]+$/.test(name)) throw bad('invalid named capture', whole);
    return capture(reading, whole.length, name);
  }
  const flagged = matchAt(FLAGGED, reading);
  if (!flagged) throw bad('invalid or unsupported Perl syntax', reading.text.slice(reading.at, reading.at + 3));
  const [whole, on = '', off = '', end] = flagged;
  const before = reading.flags;
  reading.flags = flagsOf(before, on, off);
  reading.at += whole.length;
  if (end === ')') return undefined;
  const part = inside(reading);
  reading.flags = before;
  return part;
}

function capture(reading: Reading, skip: number, name: string): PatternPart {
  const index = reading.groups.push(name) - 1;
  reading.at += skip;
  const before = reading.flags;
  const part = inside(reading);
  reading.flags = before;
  return { kind: 'group', part, index };
}

function inside(reading: Reading): PatternPart {
  reading.depth++;
  const part = readAlternatives(reading);
  reading.depth--;
  if (reading.text[reading.at] !== ')') throw bad('missing closing )', reading.text);
  reading.at++;
  return part;
}

const PERL: Readonly<Record<string, string>> = {
  d: '0-9',
  s: '\\t\\n\\f\\r ',
  w: '0-9A-Za-z_',
};
const CONTROL: Readonly<Record<string, string>> = { a: '\\x07', f: '\\f', n: '\\n', r: '\\r', t: '\\t', v: '\\v' };
const ASSERTIONS: Readonly<Record<string, Assertion>> = { A: 'text start', z: 'text end', b: 'word', B: 'no word' };

/** `\x41`, `\x{41}`, `\101`, `\n`, `\.`: one character. */
const CHARACTER =
  /\\(?:x\{([0-9a-fA-F]+)\}|x([0-9a-fA-F]{2})|([1-7][0-7]{1,2}|0[0-7]{0,2})|([afnrtv])|([^\p{L}\p{N}_]))/uy;

function escapedCharacter(reading: Reading): string {
  const match = matchAt(CHARACTER, reading);
  if (!match) throw bad('invalid escape sequence', reading.text.slice(reading.at, reading.at + 2));
  const [whole, braced, hex, octal, control, punctuation] = match;
  reading.at += whole.length;
  if (control !== undefined) return CONTROL[control] ?? control;
  if (punctuation !== undefined) return escapeSource(punctuation);
  const code = octal === undefined ? Number.parseInt(braced ?? hex ?? '', 16) : Number.parseInt(octal, 8);
  if (code > 0x10ffff) throw bad('invalid escape sequence', whole);
  return `\\u{${code.toString(16)}}`;
}

const PROPERTY = /\\([pP])(?:\{(\^?)([^}]*)\}|([A-Z]))/y;

function property(reading: Reading): string {
  const match = matchAt(PROPERTY, reading);
  if (!match) throw bad('invalid character class range', reading.text.slice(reading.at, reading.at + 2));
  const [whole, letter, caret, braced, single] = match;
  reading.at += whole.length;
  const name = braced ?? single ?? '';
  const isNegated = (letter === 'P') !== (caret === '^');
  for (const form of [name, `Script=${name}`]) {
    const source = `\\${isNegated ? 'P' : 'p'}{${form}}`;
    if (name === 'Any') return isNegated ? '' : '\\s\\S';
    try {
      new RegExp(source, 'u');
      return source;
    } catch {}
  }
  throw bad('invalid character class range', whole);
}

/** A class of one letter, `\d` or `\pL`, as the inside of brackets; undefined where it is none. */
function classEscape(reading: Reading): string | undefined {
  const letter = reading.text[reading.at + 1] ?? '';
  if (letter === 'p' || letter === 'P') return property(reading);
  const perl = PERL[letter.toLowerCase()];
  if (perl === undefined) return undefined;
  reading.at += 2;
  return letter === letter.toLowerCase() ? perl : complement(perl);
}

/** Brackets cannot nest in JavaScript without sets, so the complement is written out. */
const COMPLEMENTS: Readonly<Record<string, string>> = {
  '0-9': '\\0-/:-\\u{10ffff}',
  '\\t\\n\\f\\r ': '\\0-\\x08\\x0b\\x0e-\\x1f!-\\u{10ffff}',
  '0-9A-Za-z_': '\\0-/:-@\\[-^`\\{-\\u{10ffff}',
};
const complement = (source: string): string => COMPLEMENTS[source] ?? '';

function readEscape(reading: Reading): PatternPart {
  const letter = reading.text[reading.at + 1];
  if (letter === undefined)
    throw new Fault('invalid', 'error parsing regexp: trailing backslash at end of expression: ``');
  const what = ASSERTIONS[letter];
  if (what) {
    reading.at += 2;
    return assert(what);
  }
  if (letter === 'Q') return readLiteral(reading);
  const found = classEscape(reading);
  // Classes of letters are not folded: (?i)\d is \d.
  if (found !== undefined) return { kind: 'char', source: found, folds: false };
  return char(reading, escapedCharacter(reading));
}

function readLiteral(reading: Reading): PatternPart {
  const end = reading.text.indexOf('\\E', reading.at);
  const literal = reading.text.slice(reading.at + 2, end < 0 ? undefined : end);
  reading.at = end < 0 ? reading.text.length : end + 2;
  return { kind: 'all', parts: Array.from(literal, (one) => char(reading, escapeSource(one))) };
}

const POSIX: Readonly<Record<string, string>> = {
  alnum: '0-9A-Za-z',
  alpha: 'A-Za-z',
  ascii: '\\0-\\x7f',
  blank: '\\t ',
  cntrl: '\\0-\\x1f\\x7f',
  digit: '0-9',
  graph: '!-~',
  lower: 'a-z',
  print: ' -~',
  punct: '!-\\/:-@\\[-`\\{-~',
  space: '\\t\\n\\v\\f\\r ',
  upper: 'A-Z',
  word: '0-9A-Za-z_',
  xdigit: '0-9A-Fa-f',
};
const POSIX_CLASS = /\[:(\^?)(\w+):\]/y;

function posixClass(reading: Reading): string | undefined {
  const match = matchAt(POSIX_CLASS, reading);
  if (!match) return undefined;
  const [whole, caret, name = ''] = match;
  const source = POSIX[name];
  if (source === undefined) throw bad('invalid character class range', whole);
  if (caret) throw new Fault('unsupported', `The class ${whole} is not supported; write [^[:${name}:]].`);
  reading.at += whole.length;
  return source;
}

function classCharacter(reading: Reading): string {
  if (reading.text[reading.at] === '\\') return escapedCharacter(reading);
  const one = String.fromCodePoint(reading.text.codePointAt(reading.at) as number);
  reading.at += one.length;
  return escapeSource(one);
}

function classItem(reading: Reading): string {
  const posix = posixClass(reading);
  if (posix !== undefined) return posix;
  if (reading.text[reading.at] === '\\') {
    const found = classEscape(reading);
    if (found !== undefined) return found;
  }
  const from = reading.at;
  const low = classCharacter(reading);
  if (reading.text[reading.at] !== '-' || (reading.text[reading.at + 1] ?? ']') === ']') return low;
  reading.at++;
  const high = classCharacter(reading);
  const source = `${low}-${high}`;
  try {
    new RegExp(`[${source}]`, 'u');
  } catch {
    throw bad('invalid character class range', reading.text.slice(from, reading.at));
  }
  return source;
}

function readClass(reading: Reading): PatternPart {
  const from = reading.at++;
  let source = '';
  if (reading.text[reading.at] === '^') {
    source = '^';
    reading.at++;
  }
  for (let isFirst = true; isFirst || reading.text[reading.at] !== ']'; isFirst = false) {
    if (reading.at >= reading.text.length) throw bad('missing closing ]', reading.text.slice(from));
    source += classItem(reading);
  }
  reading.at++;
  return char(reading, source);
}

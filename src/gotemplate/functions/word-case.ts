// Camel, snake and kebab case with the word boundaries of the Go library xstrings.
import { lowerCase, SPACE, upperCase } from './text.ts';

const isConnector = (char: string): boolean => char === '-' || char === '_' || SPACE.test(char);
const isUpper = (char: string): boolean => /^\p{Lu}$/u.test(char);
const isLetter = (char: string): boolean => /^\p{L}$/u.test(char);
const isDigit = (char: string): boolean => /^\p{N}$/u.test(char);
const isPunctuation = (char: string): boolean => /^\p{P}$/u.test(char);

/** Words joined with every first letter large; connectors at the beginning stay. */
export function camelCase(text: string): string {
  const chars = Array.from(text);
  const first = chars.findIndex((char) => !isConnector(char));
  // A text of connectors alone comes back with its last one twice: a slip of xstrings.
  if (first < 0) return text + (chars.at(-1) ?? '');
  let out = chars.slice(0, first).join('');
  let wasUpper = isUpper(chars[first] as string);
  let previous = upperCase(chars[first] as string);
  for (const char of chars.slice(first + 1)) {
    let shown = char;
    if (isConnector(char) && isConnector(previous)) {
      out += previous;
    } else if (isConnector(previous)) {
      wasUpper = isUpper(char);
      shown = upperCase(char);
    } else {
      if (wasUpper && isUpper(char)) shown = lowerCase(char);
      else wasUpper = false;
      out += previous;
    }
    previous = shown;
  }
  return out + previous;
}

type WordKind = 'none' | 'number' | 'upper' | 'letters' | 'connector' | 'punctuation' | 'other';
interface Word {
  readonly kind: WordKind;
  readonly text: string;
}

const NONE: Word = { kind: 'none', text: '' };

/** How far a run of characters goes that all pass. */
function runOf(chars: readonly string[], from: number, passes: (char: string) => boolean): number {
  let end = from;
  while (end < chars.length && passes(chars[end] as string)) end++;
  return end;
}

const isSmall = (char: string): boolean => isLetter(char) && !isUpper(char);

function upperEnd(chars: readonly string[], at: number): number {
  const next = chars[at + 1];
  if (next === undefined) return at + 1;
  if (!isUpper(next)) return isLetter(next) ? runOf(chars, at + 1, isSmall) : at + 1;
  const end = runOf(chars, at + 1, isUpper);
  // In "HTTPStatus" the S belongs to the next word.
  return end < chars.length && isLetter(chars[end] as string) ? end - 1 : end;
}

function kindOf(char: string): WordKind {
  if (isConnector(char)) return 'connector';
  if (isPunctuation(char)) return 'punctuation';
  if (isUpper(char)) return 'upper';
  if (isLetter(char)) return 'letters';
  return isDigit(char) ? 'number' : 'other';
}

const RUNS: Readonly<Record<WordKind, (char: string) => boolean>> = {
  none: () => false,
  upper: isUpper,
  connector: isConnector,
  punctuation: isPunctuation,
  letters: isSmall,
  number: isDigit,
  other: (char) => kindOf(char) === 'other',
};

function wordsOf(text: string): Word[] {
  const chars = Array.from(text);
  const words: Word[] = [];
  for (let at = 0; at < chars.length; ) {
    const kind = kindOf(chars[at] as string);
    const end = kind === 'upper' ? upperEnd(chars, at) : runOf(chars, at + 1, RUNS[kind]);
    words.push({ kind, text: chars.slice(at, end).join('') });
    at = end;
  }
  return words;
}

const isPart = (word: Word): boolean => word.kind === 'letters' || word.kind === 'number';
const isGap = (word: Word): boolean => word.kind === 'none' || word.kind === 'connector' || word.kind === 'punctuation';

interface Joining {
  readonly words: readonly Word[];
  readonly connector: '_' | '-';
  at: number;
  out: string;
}

const take = (joining: Joining): Word => joining.words[joining.at++] ?? NONE;

function write(joining: Joining, { kind, text }: Word): void {
  if (kind === 'connector') joining.out += joining.connector.repeat(Array.from(text).length);
  else joining.out += kind === 'upper' ? lowerCase(text) : text;
}

function connect(joining: Joining, next: Word): void {
  if (!isGap(next)) joining.out += joining.connector;
}

/** Writes letters and numbers that belong together; gives the word after them. */
function writeParts(joining: Joining, from: Word): Word {
  let word = from;
  while (isPart(word)) {
    write(joining, word);
    word = take(joining);
  }
  connect(joining, word);
  return word;
}

/** A number after a word: part of it ("bld4"), unless small letters follow ("http_2xx"). */
function numberAfterWord(joining: Joining, number: Word): Word {
  if (joining.at >= joining.words.length) return number;
  const following = take(joining);
  if (following.kind !== 'letters') {
    write(joining, number);
    if (following.kind !== 'connector' && following.kind !== 'punctuation') joining.out += joining.connector;
    return following;
  }
  joining.out += joining.connector;
  write(joining, number);
  return writeParts(joining, following);
}

/** What comes between two words; gives the word that is written next. */
function join(joining: Joining, previous: Word, word: Word): Word {
  if (previous.kind === 'number') return writeParts(joining, word);
  if (previous.kind === 'connector') write(joining, previous);
  else if (previous.kind !== 'punctuation') {
    if (word.kind === 'number') return numberAfterWord(joining, word);
    if (word.kind !== 'connector' && word.kind !== 'punctuation') joining.out += joining.connector;
  }
  return word;
}

/** Words in small letters with a connector between them. */
export function joinedWords(text: string, connector: '_' | '-'): string {
  const joining: Joining = { words: wordsOf(text), connector, at: 0, out: '' };
  let word = take(joining);
  while (joining.at < joining.words.length) {
    if (word.kind !== 'connector') write(joining, word);
    word = join(joining, word, take(joining));
  }
  write(joining, word);
  return joining.out;
}

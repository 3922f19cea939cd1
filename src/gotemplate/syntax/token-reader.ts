import { Fault } from '#core/fault.ts';
import type { Functions } from '../functions/function.ts';
import type { Lexer } from './lexer.ts';
import type { TemplateDefinition } from './nodes.ts';
import { type Token, type TokenType, tokenText } from './tokens.ts';

/** The functions that templates may call, and why others that Go would know are refused. */
export interface KnownFunctions {
  readonly known: Functions;
  readonly refused: Readonly<Record<string, string>>;
}

/** One template while it is parsed. Definitions within a file share its lexer, and have tokens and variables of their own. */
export interface ParseTree {
  readonly file: string;
  readonly text: string;
  readonly lexer: Lexer;
  readonly functions: KnownFunctions;
  /** Three tokens of look-ahead, the newest first. */
  readonly tokens: [Token, Token, Token];
  pending: number;
  variables: string[];
  actionLine: number;
  rangeDepth: number;
  /** How deep actions and parentheses are nested. */
  depth: number;
  readonly definitions: Map<string, TemplateDefinition>;
}

const NONE: Token = { type: 'eof', at: 0, value: '', line: 0 };

export function openTree(
  from: Pick<ParseTree, 'file' | 'text' | 'lexer' | 'functions' | 'definitions' | 'depth'>,
): ParseTree {
  return { ...from, tokens: [NONE, NONE, NONE], pending: 0, variables: ['$'], actionLine: 0, rangeDepth: 0 };
}

/** Where that character of the text stands, as `file:line:column`, both counted from 1. */
export function placeOf(file: string, text: string, at: number): string {
  const before = text.slice(0, at);
  const line = before.split('\n').length;
  return `${file}:${line}:${at - before.lastIndexOf('\n')}`;
}

export function parseFault(tree: ParseTree, message: string, remedy?: string): Fault {
  const [newest] = tree.tokens;
  return new Fault('invalid', `template: ${tree.file}:${newest.line}: ${message}`, {
    at: placeOf(tree.file, tree.text, newest.at),
    remedy: remedy ?? 'Correct the template.',
  });
}

export function next(tree: ParseTree): Token {
  if (tree.pending > 0) tree.pending--;
  else tree.tokens[0] = tree.lexer.next();
  return tree.tokens[tree.pending] as Token;
}

export function peek(tree: ParseTree): Token {
  if (tree.pending > 0) return tree.tokens[tree.pending - 1] as Token;
  tree.pending = 1;
  tree.tokens[0] = tree.lexer.next();
  return tree.tokens[0];
}

export function backUp(tree: ParseTree): void {
  tree.pending++;
}

/** Hands tokens back that were read before the newest one, the oldest last. */
export function backUpTo(tree: ParseTree, ...before: readonly Token[]): void {
  for (const [n, token] of before.entries()) tree.tokens[n + 1] = token;
  tree.pending = before.length + 1;
}

export function nextNonSpace(tree: ParseTree): Token {
  for (;;) {
    const token = next(tree);
    if (token.type !== 'space') return token;
  }
}

export function peekNonSpace(tree: ParseTree): Token {
  const token = nextNonSpace(tree);
  backUp(tree);
  return token;
}

export function unexpected(tree: ParseTree, token: Token, context: string): Fault {
  if (token.type !== 'error') return parseFault(tree, `unexpected ${tokenText(token)} in ${context}`);
  const isElsewhere = tree.actionLine !== 0 && tree.actionLine !== token.line;
  const started = ` started at ${tree.file}:${tree.actionLine}`;
  const where = token.value.endsWith(' action') ? started : ` in action${started}`;
  return parseFault(tree, `${token.value}${isElsewhere ? where : ''}`);
}

export function expect(tree: ParseTree, context: string, ...types: readonly TokenType[]): Token {
  const token = nextNonSpace(tree);
  if (!types.includes(token.type)) throw unexpected(tree, token, context);
  return token;
}

const DEEPEST = 500;

/** Parses something nested; Go allows 10,000 parentheses, we allow what our stack does. */
export function nested<T>(tree: ParseTree, parse: () => T): T {
  if (tree.depth >= DEEPEST) throw parseFault(tree, 'max expression depth exceeded');
  tree.depth++;
  const parsed = parse();
  tree.depth--;
  return parsed;
}

import { Fault } from '#core/fault.ts';
import { goQuoted, unquoted } from '../fmt/quote.ts';
import { nodeText } from './node-text.ts';
import type { CommandNode, Operand, PipeNode, VariableNode } from './nodes.ts';
import { parseNumber } from './number.ts';
import {
  backUp,
  backUpTo,
  nested,
  next,
  nextNonSpace,
  type ParseTree,
  parseFault,
  peek,
  peekNonSpace,
  unexpected,
} from './token-reader.ts';
import type { Token, TokenType } from './tokens.ts';

const STARTS_COMMAND: ReadonlySet<TokenType> = new Set<TokenType>([
  'bool',
  'char constant',
  'complex',
  'dot',
  'field',
  'identifier',
  'number',
  'nil',
  'raw string',
  'string',
  'variable',
  'left parenthesis',
]);

/** What a value read from a token gives, or a fault at that token. */
export function readAt<T>(tree: ParseTree, read: () => T): T {
  try {
    return read();
  } catch (thrown) {
    throw parseFault(tree, Fault.from(thrown).message);
  }
}

function variableOf(at: number, text: string): VariableNode {
  const [name = '', ...fields] = text.split('.');
  return { kind: 'variable', at, name, fields };
}

/** Reads a declaration or assignment, if the pipeline begins with one; true where a second variable may follow. */
function readVariable(tree: ParseTree, pipe: PipeNode, context: string): boolean {
  const variable = peekNonSpace(tree);
  if (variable.type !== 'variable') return false;
  next(tree);
  // In "$x foo" the word after the space tells whether $x is declared or used.
  const after = peek(tree);
  const following = peekNonSpace(tree);
  const isComma = following.type === 'char' && following.value === ',';
  if (following.type !== 'assign' && following.type !== 'declare' && !isComma) {
    if (after.type === 'space') backUpTo(tree, after, variable);
    else backUpTo(tree, variable);
    return false;
  }
  if (!isComma) pipe.isAssignment = following.type === 'assign';
  nextNonSpace(tree);
  pipe.variables.push(variableOf(variable.at, variable.value));
  tree.variables.push(variable.value);
  return isComma && mayFollow(tree, pipe, context);
}

function mayFollow(tree: ParseTree, pipe: PipeNode, context: string): true {
  if (context !== 'range' || pipe.variables.length >= 2) throw parseFault(tree, `too many declarations in ${context}`);
  const { type } = peekNonSpace(tree);
  if (type !== 'variable' && type !== 'right delimiter' && type !== 'right parenthesis') {
    throw parseFault(tree, 'range can only initialize variables');
  }
  return true;
}

export function parsePipeline(
  tree: ParseTree,
  context: string,
  end: 'right delimiter' | 'right parenthesis',
): PipeNode {
  const pipe: PipeNode = { kind: 'pipe', at: peekNonSpace(tree).at, isAssignment: false, variables: [], commands: [] };
  while (readVariable(tree, pipe, context));
  for (;;) {
    const token = nextNonSpace(tree);
    if (token.type === end) {
      checkPipeline(tree, pipe, context);
      return pipe;
    }
    if (!STARTS_COMMAND.has(token.type)) throw unexpected(tree, token, context);
    backUp(tree);
    pipe.commands.push(parseCommand(tree));
  }
}

const CONSTANTS: ReadonlySet<string> = new Set(['bool', 'dot', 'nil', 'number', 'string']);

function checkPipeline(tree: ParseTree, { commands }: PipeNode, context: string): void {
  if (commands.length === 0) throw parseFault(tree, `missing value for ${context}`);
  const wrong = commands.findIndex(({ words }, n) => n > 0 && CONSTANTS.has(words[0]?.kind ?? ''));
  if (wrong > 0) throw parseFault(tree, `non executable command in pipeline stage ${wrong + 1}`);
}

function parseCommand(tree: ParseTree): CommandNode {
  const command: CommandNode = { kind: 'command', at: peekNonSpace(tree).at, words: [] };
  for (let hasMore = true; hasMore; ) {
    peekNonSpace(tree);
    const operand = parseOperand(tree);
    if (operand) command.words.push(operand);
    const token = next(tree);
    hasMore = token.type === 'space';
    if (token.type === 'right delimiter' || token.type === 'right parenthesis') backUp(tree);
    else if (!hasMore && token.type !== 'pipe') throw unexpected(tree, token, 'operand');
  }
  if (command.words.length === 0) throw parseFault(tree, 'empty command');
  return command;
}

function parseOperand(tree: ParseTree): Operand | undefined {
  const node = parseTerm(tree);
  if (node === undefined || peek(tree).type !== 'field') return node;
  const { at } = peek(tree);
  const fields: string[] = [];
  while (peek(tree).type === 'field') fields.push(next(tree).value.slice(1));
  if (node.kind === 'field') return { kind: 'field', at, fields: [...node.fields, ...fields] };
  if (node.kind === 'variable') return { ...node, at, fields: [...node.fields, ...fields] };
  if (CONSTANTS.has(node.kind)) throw parseFault(tree, `unexpected . after term ${goQuoted(nodeText(node))}`);
  return { kind: 'chain', at, node, fields };
}

function identifierOf(tree: ParseTree, { at, value: name }: Token): Operand {
  const { known, refused } = tree.functions;
  const definition = Object.hasOwn(known, name) ? known[name] : undefined;
  if (definition) return { kind: 'identifier', at, name, definition };
  const why = Object.hasOwn(refused, name) ? refused[name] : undefined;
  throw parseFault(tree, `function ${goQuoted(name)} not defined`, why);
}

function usedVariable(tree: ParseTree, { at, value }: Token): Operand {
  const variable = variableOf(at, value);
  if (!tree.variables.includes(variable.name)) throw parseFault(tree, `undefined variable ${goQuoted(variable.name)}`);
  return variable;
}

function parseTerm(tree: ParseTree): Operand | undefined {
  const token = nextNonSpace(tree);
  const { at, value } = token;
  switch (token.type) {
    case 'identifier':
      return identifierOf(tree, token);
    case 'dot':
    case 'nil':
      return { kind: token.type, at };
    case 'variable':
      return usedVariable(tree, token);
    case 'field':
      return { kind: 'field', at, fields: [value.slice(1)] };
    case 'bool':
      return { kind: 'bool', at, isTrue: value === 'true' };
    case 'char constant':
    case 'complex':
    case 'number':
      return readAt(tree, () => parseNumber(token));
    case 'left parenthesis':
      return nested(tree, () => parsePipeline(tree, 'parenthesized pipeline', 'right parenthesis'));
    case 'string':
    case 'raw string':
      return { kind: 'string', at, quoted: value, text: readAt(tree, () => unquoted(value)) };
    default:
      backUp(tree);
      return undefined;
  }
}

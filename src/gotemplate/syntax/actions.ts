import { goQuoted, unquoted } from '../fmt/quote.ts';
import { openLexer } from './lexer.ts';
import { nodeText } from './node-text.ts';
import type {
  ActionNode,
  BranchNode,
  JumpNode,
  NodeList,
  StatementNode,
  TemplateDefinition,
  TemplateNode,
  Terminator,
} from './nodes.ts';
import { parsePipeline, readAt } from './pipeline.ts';
import {
  backUp,
  backUpTo,
  expect,
  type KnownFunctions,
  nested,
  next,
  nextNonSpace,
  openTree,
  type ParseTree,
  parseFault,
  peek,
  peekNonSpace,
  unexpected,
} from './token-reader.ts';
import type { Token } from './tokens.ts';

/** Whether there is nothing in it but white space: such a definition replaces no other. */
export const isEmptyList = (list: NodeList): boolean =>
  list.nodes.every((node) => node.kind === 'text' && node.text.trim() === '');

function define(tree: ParseTree, name: string, root: NodeList): void {
  const earlier = tree.definitions.get(name);
  if (earlier === undefined || isEmptyList(earlier.root)) {
    tree.definitions.set(name, { name, file: tree.file, text: tree.text, root });
  } else if (!isEmptyList(root)) {
    throw parseFault(tree, `template: multiple definition of template ${goQuoted(name)}`);
  }
}

const isTerminator = (node: StatementNode | Terminator): node is Terminator =>
  node.kind === 'end' || node.kind === 'else';

/** Every definition of a file, the file itself among them under its name. */
export function parseFile(
  file: string,
  text: string,
  functions: KnownFunctions,
): ReadonlyMap<string, TemplateDefinition> {
  const definitions = new Map<string, TemplateDefinition>();
  const tree = openTree({ file, text, lexer: openLexer(text), functions, definitions, depth: 0 });
  const root: NodeList = { kind: 'list', at: peek(tree).at, nodes: [] };
  while (peek(tree).type !== 'eof') {
    if (peek(tree).type === 'left delimiter') {
      const delimiter = next(tree);
      if (nextNonSpace(tree).type === 'define') {
        parseDefinition(openTree(tree));
        continue;
      }
      backUpTo(tree, delimiter);
    }
    const node = textOrAction(tree);
    if (isTerminator(node)) throw parseFault(tree, `unexpected ${nodeText(node)}`);
    root.nodes.push(node);
  }
  define(tree, file, root);
  return definitions;
}

function parseDefinition(tree: ParseTree): void {
  const context = 'define clause';
  const name = expect(tree, context, 'string', 'raw string').value;
  const unquotedName = readAt(tree, () => unquoted(name));
  expect(tree, context, 'right delimiter');
  const { list, end } = itemList(tree);
  if (end.kind !== 'end') throw parseFault(tree, `unexpected ${nodeText(end)} in ${context}`);
  define(tree, unquotedName, list);
}

function itemList(tree: ParseTree): { list: NodeList; end: Terminator } {
  const list: NodeList = { kind: 'list', at: peekNonSpace(tree).at, nodes: [] };
  while (peekNonSpace(tree).type !== 'eof') {
    const node = textOrAction(tree);
    if (isTerminator(node)) return { list, end: node };
    list.nodes.push(node);
  }
  throw parseFault(tree, 'unexpected EOF');
}

function textOrAction(tree: ParseTree): StatementNode | Terminator {
  const token = nextNonSpace(tree);
  if (token.type === 'text') return { kind: 'text', at: token.at, text: token.value };
  if (token.type !== 'left delimiter') throw unexpected(tree, token, 'input');
  tree.actionLine = token.line;
  const node = parseAction(tree);
  tree.actionLine = 0;
  return node;
}

function parseAction(tree: ParseTree): StatementNode | Terminator {
  const token = nextNonSpace(tree);
  switch (token.type) {
    case 'block':
      return nested(tree, () => parseBlock(tree));
    case 'break':
    case 'continue':
      return parseJump(tree, token, token.type);
    case 'else':
      return parseElse(tree);
    case 'end':
      return { kind: 'end', at: expect(tree, 'end', 'right delimiter').at };
    case 'if':
    case 'range':
    case 'with':
      return parseBranch(tree, token.type);
    case 'template':
      return parseTemplate(tree);
    default:
      return parsePlainAction(tree);
  }
}

function parsePlainAction(tree: ParseTree): ActionNode {
  backUp(tree);
  const { at } = peek(tree);
  return { kind: 'action', at, pipe: parsePipeline(tree, 'command', 'right delimiter') };
}

function parseJump(tree: ParseTree, { at }: Token, kind: 'break' | 'continue'): JumpNode {
  const token = nextNonSpace(tree);
  if (token.type !== 'right delimiter') throw unexpected(tree, token, `{{${kind}}}`);
  if (tree.rangeDepth === 0) throw parseFault(tree, `{{${kind}}} outside {{range}}`);
  return { kind, at };
}

function parseElse(tree: ParseTree): Terminator {
  const following = peekNonSpace(tree);
  // "{{else if" is read as "{{else}}{{if", so the word is left for the branch.
  if (following.type === 'if' || following.type === 'with') return { kind: 'else', at: following.at };
  return { kind: 'else', at: expect(tree, 'else', 'right delimiter').at };
}

const parseBranch = (tree: ParseTree, kind: BranchNode['kind']): BranchNode => nested(tree, () => branchOf(tree, kind));

function branchOf(tree: ParseTree, kind: BranchNode['kind']): BranchNode {
  const seen = tree.variables.length;
  const pipe = parsePipeline(tree, kind, 'right delimiter');
  if (kind === 'range') tree.rangeDepth++;
  const { list, end } = itemList(tree);
  if (kind === 'range') tree.rangeDepth--;
  const otherwise = end.kind === 'else' ? elseList(tree, kind, end) : undefined;
  tree.variables.length = seen;
  return { kind, at: pipe.at, pipe, list, otherwise };
}

function elseList(tree: ParseTree, kind: BranchNode['kind'], { at }: Terminator): NodeList {
  if (kind !== 'range' && peek(tree).type === kind) {
    next(tree);
    return { kind: 'list', at, nodes: [parseBranch(tree, kind)] };
  }
  const { list, end } = itemList(tree);
  if (end.kind !== 'end') throw parseFault(tree, `expected end; found ${nodeText(end)}`);
  return list;
}

function templateName(tree: ParseTree, token: Token, context: string): string {
  if (token.type !== 'string' && token.type !== 'raw string') throw unexpected(tree, token, context);
  return readAt(tree, () => unquoted(token.value));
}

function parseBlock(tree: ParseTree): TemplateNode {
  const context = 'block clause';
  const token = nextNonSpace(tree);
  const name = templateName(tree, token, context);
  const pipe = parsePipeline(tree, context, 'right delimiter');
  const block = openTree(tree);
  const { list, end } = itemList(block);
  if (end.kind !== 'end') throw parseFault(tree, `unexpected ${nodeText(end)} in ${context}`);
  define(block, name, list);
  return { kind: 'template', at: token.at, name, pipe };
}

function parseTemplate(tree: ParseTree): TemplateNode {
  const context = 'template clause';
  const token = nextNonSpace(tree);
  const name = templateName(tree, token, context);
  if (nextNonSpace(tree).type === 'right delimiter') return { kind: 'template', at: token.at, name, pipe: undefined };
  backUp(tree);
  return { kind: 'template', at: token.at, name, pipe: parsePipeline(tree, context, 'right delimiter') };
}

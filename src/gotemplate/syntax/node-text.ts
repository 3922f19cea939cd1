import { goQuoted } from '../fmt/quote.ts';
import type { BranchNode, CommandNode, Node, Operand, PipeNode, TemplateNode } from './nodes.ts';

const inPipe = (node: Operand): string => (node.kind === 'pipe' ? `(${pipeText(node)})` : nodeText(node));

function pipeText({ variables, isAssignment, commands }: PipeNode): string {
  const names = variables.map(nodeText).join(', ');
  const assigned = variables.length === 0 ? '' : `${names} ${isAssignment ? '=' : ':='} `;
  return assigned + commands.map(commandText).join(' | ');
}

const commandText = ({ words }: CommandNode): string => words.map(inPipe).join(' ');

function branchText({ kind, pipe, list, otherwise }: BranchNode): string {
  const other = otherwise ? `{{else}}${nodeText(otherwise)}` : '';
  return `{{${kind} ${pipeText(pipe)}}}${nodeText(list)}${other}{{end}}`;
}

const templateText = ({ name, pipe }: TemplateNode): string =>
  `{{template ${goQuoted(name)}${pipe ? ` ${pipeText(pipe)}` : ''}}}`;

function operandText(node: Operand): string {
  switch (node.kind) {
    case 'pipe':
      return pipeText(node);
    case 'identifier':
      return node.name;
    case 'variable':
      return [node.name, ...node.fields].join('.');
    case 'field':
      return node.fields.map((field) => `.${field}`).join('');
    case 'chain':
      return inPipe(node.node) + node.fields.map((field) => `.${field}`).join('');
    case 'dot':
      return '.';
    case 'nil':
      return 'nil';
    case 'bool':
      return String(node.isTrue);
    case 'string':
      return node.quoted;
    case 'number':
      return node.text;
  }
}

/** The node as Go's messages show it. */
export function nodeText(node: Node): string {
  switch (node.kind) {
    case 'text':
      return node.text;
    case 'action':
      return `{{${pipeText(node.pipe)}}}`;
    case 'if':
    case 'with':
    case 'range':
      return branchText(node);
    case 'template':
      return templateText(node);
    case 'list':
      return node.nodes.map(nodeText).join('');
    case 'command':
      return commandText(node);
    case 'break':
    case 'continue':
    case 'end':
    case 'else':
      return `{{${node.kind}}}`;
    default:
      return operandText(node);
  }
}

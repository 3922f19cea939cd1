import type { GoFunction } from '../functions/function.ts';
import type { Float, Value } from '../value/value.ts';

interface Placed {
  /** Where it stands, in characters of the text. */
  readonly at: number;
}

export interface TextNode extends Placed {
  readonly kind: 'text';
  readonly text: string;
}
export interface ActionNode extends Placed {
  readonly kind: 'action';
  readonly pipe: PipeNode;
}
export interface BranchNode extends Placed {
  readonly kind: 'if' | 'with' | 'range';
  readonly pipe: PipeNode;
  readonly list: NodeList;
  readonly otherwise: NodeList | undefined;
}
export interface TemplateNode extends Placed {
  readonly kind: 'template';
  readonly name: string;
  readonly pipe: PipeNode | undefined;
}
export interface JumpNode extends Placed {
  readonly kind: 'break' | 'continue';
}
export interface NodeList extends Placed {
  readonly kind: 'list';
  readonly nodes: StatementNode[];
}
export type StatementNode = TextNode | ActionNode | BranchNode | TemplateNode | JumpNode;

/** `{{end}}` and `{{else}}`: seen by the parser alone. */
export interface Terminator extends Placed {
  readonly kind: 'end' | 'else';
}

export interface PipeNode extends Placed {
  readonly kind: 'pipe';
  isAssignment: boolean;
  readonly variables: VariableNode[];
  readonly commands: CommandNode[];
}
export interface CommandNode extends Placed {
  readonly kind: 'command';
  readonly words: Operand[];
}
export interface IdentifierNode extends Placed {
  readonly kind: 'identifier';
  readonly name: string;
  readonly definition: GoFunction;
}
export interface VariableNode extends Placed {
  readonly kind: 'variable';
  readonly name: string;
  readonly fields: readonly string[];
}
export interface FieldNode extends Placed {
  readonly kind: 'field';
  readonly fields: readonly string[];
}
export interface ChainNode extends Placed {
  readonly kind: 'chain';
  readonly node: Operand;
  readonly fields: readonly string[];
}
export interface DotNode extends Placed {
  readonly kind: 'dot';
}
export interface NilNode extends Placed {
  readonly kind: 'nil';
}
export interface BoolNode extends Placed {
  readonly kind: 'bool';
  readonly isTrue: boolean;
}
export interface StringNode extends Placed {
  readonly kind: 'string';
  readonly quoted: string;
  readonly text: string;
}
export interface NumberNode extends Placed {
  readonly kind: 'number';
  readonly text: string;
  /** As an integer, where it is one that an int64 holds. */
  readonly whole: Value;
  /** As a float64; undefined where it is none. */
  readonly float: Float | undefined;
  /** As where nothing asks for a type; undefined where it does not fit an int. */
  readonly ideal: Value;
}

export type Operand =
  | IdentifierNode
  | VariableNode
  | FieldNode
  | ChainNode
  | DotNode
  | NilNode
  | BoolNode
  | StringNode
  | NumberNode
  | PipeNode;

export type Node = StatementNode | Terminator | NodeList | CommandNode | Operand;

/** A named template and the file that it stands in. */
export interface TemplateDefinition {
  readonly name: string;
  readonly file: string;
  readonly text: string;
  readonly root: NodeList;
}

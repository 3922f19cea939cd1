import { Fault } from '#core/fault.ts';
import { type GoFunction, PARAMETER_TYPES, type Parameter } from '../functions/function.ts';
import { nodeText } from '../syntax/node-text.ts';
import type {
  ChainNode,
  CommandNode,
  FieldNode,
  IdentifierNode,
  Node,
  Operand,
  PipeNode,
  VariableNode,
} from '../syntax/nodes.ts';
import { GoMap, type GoMethod, isTrue, type Value } from '../value/value.ts';
import { type Argument, CAN_BE_NIL, checkCount, checkedArgument, constantOf, literal, nilOf } from './arguments.ts';
import { fieldOf } from './fields.ts';
import { execFault, pushVariable, type State, setVariable } from './state.ts';

/** The value that comes down a pipeline; `NOTHING` where a command is the first. */
const NOTHING = Symbol('no piped value');
type Piped = Value | typeof NOTHING;

/** Evaluates a pipeline; variables that it declares stay until the caller pops them. */
export function evalPipeline(state: State, dot: Value, pipe: PipeNode): Value {
  state.node = pipe;
  let piped: Piped = NOTHING;
  for (const command of pipe.commands) {
    // A nil within an interface becomes no value.
    piped = evalCommand(state, dot, command, piped) ?? undefined;
  }
  const value = piped as Value;
  for (const { name } of pipe.variables) {
    if (pipe.isAssignment) setVariable(state, name, value, false);
    else pushVariable(state, name, value);
  }
  return value;
}

function refuseArguments(state: State, words: readonly Operand[], piped: Piped): void {
  if (words.length > 1 || piped !== NOTHING) {
    throw execFault(state, `can't give argument to non-function ${nodeText(words[0] as Operand)}`);
  }
}

function evalCommand(state: State, dot: Value, command: CommandNode, piped: Piped): Value {
  const { words } = command;
  const first = words[0] as Operand;
  state.world.run.budget.step();
  switch (first.kind) {
    case 'field':
      return evalField(state, dot, first, words, piped);
    case 'chain':
      return evalChain(state, dot, first, words, piped);
    case 'identifier':
      state.node = first;
      return callFunction(state, dot, first, command, words, piped);
    case 'pipe':
      refuseArguments(state, words, piped);
      return evalPipeline(state, dot, first);
    case 'variable':
      return evalVariable(state, dot, first, words, piped);
    default:
      state.node = first;
      refuseArguments(state, words, piped);
      return constantOf(state, dot, first);
  }
}

const NO_WORDS: readonly Operand[] = [];

function evalField(state: State, dot: Value, node: FieldNode, words = NO_WORDS, piped: Piped = NOTHING): Value {
  state.node = node;
  return evalFields(
    state,
    dot,
    { receiver: dot, isElement: state.isDotElement, node, fields: node.fields },
    words,
    piped,
  );
}

function evalChain(state: State, dot: Value, node: ChainNode, words = NO_WORDS, piped: Piped = NOTHING): Value {
  state.node = node;
  if (node.node.kind === 'nil') throw execFault(state, `indirection through explicit nil in ${nodeText(node)}`);
  const receiver = evalArgument(state, dot, node.node, undefined) as Value;
  return evalFields(state, dot, { receiver, isElement: false, node, fields: node.fields }, words, piped);
}

function evalVariable(state: State, dot: Value, node: VariableNode, words = NO_WORDS, piped: Piped = NOTHING): Value {
  state.node = node;
  const at = state.names.lastIndexOf(node.name);
  if (at < 0) throw execFault(state, `undefined variable: ${node.name}`);
  const receiver = state.values[at];
  if (node.fields.length === 0) {
    if (words.length > 0) refuseArguments(state, words, piped);
    return receiver;
  }
  const isElement = state.elements[at] === true;
  return evalFields(state, dot, { receiver, isElement, node, fields: node.fields }, words, piped);
}

interface Fields {
  readonly receiver: Value;
  readonly isElement: boolean;
  readonly node: Operand;
  readonly fields: readonly string[];
}

function evalFields(state: State, dot: Value, chain: Fields, words: readonly Operand[], piped: Piped): Value {
  const { node, fields } = chain;
  let { receiver, isElement } = chain;
  const last = fields.length - 1;
  for (let n = 0; n <= last; n++) {
    const isLast = n === last;
    const from = receiver;
    const hasArguments = isLast && (words.length > 1 || piped !== NOTHING);
    receiver = fieldOf(state, from, isElement, fields[n] as string, {
      hasArguments,
      call: (method, name) =>
        isLast
          ? callMethod(state, dot, { method, name, node }, words, piped)
          : callMethod(state, dot, { method, name, node }, NO_WORDS, NOTHING),
    });
    isElement = from instanceof GoMap && from.element === 'interface {}';
  }
  state.node = node;
  return receiver;
}

/** Evaluates one argument; without a type any value is taken as it is. */
function evalArgument(state: State, dot: Value, node: Operand, type: Parameter | undefined): Argument {
  state.node = node;
  const take = (value: Value): Argument => (type === undefined ? value : checkedArgument(state, value, type));
  switch (node.kind) {
    case 'dot':
      return take(dot);
    case 'nil':
      if (type !== undefined && CAN_BE_NIL.has(type)) return nilOf(type);
      throw execFault(state, `cannot assign nil to ${type === undefined ? '%!s(<nil>)' : PARAMETER_TYPES[type]}`);
    case 'field':
      return take(evalField(state, dot, node));
    case 'variable':
      return take(evalVariable(state, dot, node));
    case 'pipe':
      return take(evalPipeline(state, dot, node));
    case 'identifier':
      return take(callFunction(state, dot, node, node, [], NOTHING));
    case 'chain':
      return take(evalChain(state, dot, node));
    default:
      return literal(state, dot, node, type ?? 'any');
  }
}

/** `and` and `or`: the first argument that decides, or the last. */
function shortCircuit(state: State, dot: Value, name: string, words: readonly Operand[], piped: Piped): Value {
  let value: Value;
  for (let n = 1; n < words.length; n++) {
    value = evalArgument(state, dot, words[n] as Operand, 'value') as Value;
    if (isTrue(value) === (name === 'or')) return value;
  }
  return piped === NOTHING ? value : piped;
}

function callFunction(
  state: State,
  dot: Value,
  { name, definition }: IdentifierNode,
  at: Node | CommandNode,
  words: readonly Operand[],
  piped: Piped,
): Value {
  const given = Math.max(0, words.length - 1);
  checkCount(state, definition, name, given, piped === NOTHING ? 0 : 1);
  if (definition.stopsAt) return shortCircuit(state, dot, name, words, piped);
  const { takes, rest } = definition;
  const values: (Argument | Argument[])[] = [];
  const further: Argument[] = [];
  const add = (argument: Argument): void => void (values.length < takes.length ? values : further).push(argument);
  const typeAt = (n: number): Parameter => takes[n] ?? (rest as Parameter);
  for (let n = 0; n < given; n++) add(evalArgument(state, dot, words[n + 1] as Operand, typeAt(n)));
  if (piped !== NOTHING) add(checkedArgument(state, piped, typeAt(given)));
  if (rest !== undefined) values.push(further);
  return safely(state, at, name, () => give(state, definition, values));
}

// The slowest functions that go through a text take as long for so many characters as an action takes.
const CHARACTERS_A_STEP = 4;

function charactersIn(values: readonly unknown[]): number {
  let count = 0;
  for (const value of values) {
    if (typeof value === 'string') count += value.length;
    else if (Array.isArray(value)) count += charactersIn(value);
  }
  return count;
}

function give(state: State, definition: GoFunction, values: readonly unknown[]): Value {
  const { run } = state.world;
  run.budget.step(1 + charactersIn(values) / CHARACTERS_A_STEP);
  const given = (definition.give as unknown as (...all: readonly unknown[]) => Value)(...values, run);
  // Texts on the way to the output count too: a template that doubles one again and again must end.
  if (typeof given === 'string') run.budget.write(given.length);
  return given;
}

/** The fault of a function names it, as in Go; the fault of a limit stays as it is. */
function safely(state: State, at: Node, name: string, call: () => Value): Value {
  try {
    return call();
  } catch (thrown) {
    const fault = Fault.from(thrown);
    if (fault.kind !== 'invalid' && fault.kind !== 'unsupported') throw thrown;
    state.node = at;
    throw execFault(state, `error calling ${name}: ${fault.message}`, fault);
  }
}

/** Calls a method of what a function gave. */
function callMethod(
  state: State,
  dot: Value,
  { method, name, node }: { readonly method: GoMethod; readonly name: string; readonly node: Operand },
  words: readonly Operand[],
  piped: Piped,
): Value {
  const definition: GoFunction = { takes: method.takes, rest: undefined, give: method.give as GoFunction['give'] };
  checkCount(state, definition, name, Math.max(0, words.length - 1), piped === NOTHING ? 0 : 1);
  const values = words.slice(1).map((word, n) => evalArgument(state, dot, word, method.takes[n] ?? 'any') as never);
  if (piped !== NOTHING) values.push(checkedArgument(state, piped, method.takes.at(-1) ?? 'any') as never);
  return safely(state, node, name, () => method.give(...values));
}

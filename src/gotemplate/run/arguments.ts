import { type GoFunction, PARAMETER_TYPES, type Parameter } from '../functions/function.ts';
import { nodeText } from '../syntax/node-text.ts';
import type { Operand } from '../syntax/nodes.ts';
import { Float, GoMap, Int, typeName, type Value } from '../value/value.ts';
import { execFault, type State } from './state.ts';

/** An argument as its function takes it: ints and floats of a typed parameter are plain numbers. */
export type Argument = Value | number;

export const CAN_BE_NIL: ReadonlySet<Parameter> = new Set<Parameter>(['any', 'value', 'map', 'version']);

export function nilOf(type: Parameter): Argument {
  if (type === 'map') return new GoMap(new Map(), 'interface {}', true);
  return type === 'any' ? null : undefined;
}

const ASSIGNED: Readonly<Record<Parameter, (value: Exclude<Value, undefined>) => Argument>> = {
  any: (value) => value,
  value: (value) => value,
  string: (value) => (typeof value === 'string' ? value : undefined),
  bool: (value) => (typeof value === 'boolean' ? value : undefined),
  float64: (value) => (value instanceof Float ? value.value : undefined),
  map: (value) => (value instanceof GoMap && value.element === 'interface {}' ? value : undefined),
  time: (value) => (typeName(value) === 'time.Time' ? value : undefined),
  version: (value) => (typeName(value) === '*semver.Version' ? value : undefined),
  int(value) {
    if (typeof value === 'number') return value;
    return value instanceof Int && value.type === 'int' ? Number(value.value) : undefined;
  },
};

export function checkedArgument(state: State, value: Value, type: Parameter): Argument {
  if (type === 'value') return value;
  if (value === undefined) {
    if (CAN_BE_NIL.has(type)) return nilOf(type);
    throw execFault(state, `invalid value; expected ${PARAMETER_TYPES[type]}`);
  }
  if (type === 'any') return value;
  const argument = ASSIGNED[type](value);
  if (argument !== undefined) return argument;
  const got = value === null ? 'interface {}' : typeName(value);
  throw execFault(state, `wrong type for value; expected ${PARAMETER_TYPES[type]}; got ${got}`);
}

const LITERALS: Partial<Record<Parameter, string>> = {
  string: 'string',
  int: 'integer',
  float64: 'float',
  bool: 'bool',
};

/** A constant as an argument: the type of the parameter decides what a number is. */
export function literal(
  state: State,
  dot: Value,
  node: Extract<Operand, { kind: 'bool' | 'string' | 'number' }>,
  type: Parameter,
): Argument {
  if (type === 'any' || type === 'value') return constantOf(state, dot, node);
  let found: Argument;
  if (node.kind === 'number' && type === 'int')
    found = node.whole instanceof Int ? Number(node.whole.value) : node.whole;
  else if (node.kind === 'number' && type === 'float64') found = node.float?.value;
  else if (node.kind === 'string' && type === 'string') found = node.text;
  else if (node.kind === 'bool' && type === 'bool') found = node.isTrue;
  if (found !== undefined) return found;
  const wanted = LITERALS[type];
  if (wanted !== undefined) throw execFault(state, `expected ${wanted}; found ${nodeText(node)}`);
  throw execFault(state, `can't handle ${nodeText(node)} for arg of type ${PARAMETER_TYPES[type]}`);
}

export function checkCount(state: State, definition: GoFunction, name: string, given: number, piped: number): void {
  const wanted = definition.takes.length;
  if (definition.rest !== undefined) {
    if (given + piped >= wanted) return;
    throw execFault(state, `wrong number of args for ${name}: want at least ${wanted} got ${given}`);
  }
  if (given + piped === wanted) return;
  throw execFault(state, `wrong number of args for ${name}: want ${wanted} got ${given + piped}`);
}

type Constant = Extract<Operand, { kind: 'bool' | 'dot' | 'string' | 'number' | 'nil' }>;

/** A constant, where nothing asks for a type. */
export function constantOf(state: State, dot: Value, node: Constant): Value {
  switch (node.kind) {
    case 'bool':
      return node.isTrue;
    case 'dot':
      return dot;
    case 'string':
      return node.text;
    case 'number':
      if (node.ideal === undefined) throw execFault(state, `${node.text} overflows int`);
      return node.ideal;
    case 'nil':
      throw execFault(state, 'nil is not a command');
  }
}

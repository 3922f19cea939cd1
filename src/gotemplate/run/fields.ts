import { goQuoted } from '../fmt/quote.ts';
import { Float, GoMap, type GoMethod, GoSlice, Int, typeName, type Value } from '../value/value.ts';
import { execFault, type State } from './state.ts';

/** Whether the last field of a chain is called with arguments; only methods may be. */
export interface FieldCall {
  readonly hasArguments: boolean;
  call(method: GoMethod, name: string): Value;
}

const asElementType = (receiver: Value, isElement: boolean): string => {
  if (receiver === null || isElement) return 'interface {}';
  return typeName(receiver);
};

function ofMap(state: State, receiver: GoMap, name: string, hasArguments: boolean): Value {
  if (hasArguments) throw execFault(state, `${name} is not a method but has arguments`);
  const value = receiver.entries.get(name);
  if (value !== undefined || receiver.entries.has(name)) return value;
  if (state.world.missingKey === 'error') throw execFault(state, `map has no entry for key ${goQuoted(name)}`);
  if (state.world.missingKey === 'default') return undefined;
  return receiver.element === 'string' ? '' : null;
}

function methodOf(receiver: Value, name: string): GoMethod | undefined {
  if (typeof receiver !== 'object' || receiver === null) return undefined;
  if (
    receiver instanceof GoSlice ||
    receiver instanceof Float ||
    receiver instanceof Int ||
    receiver instanceof GoMap
  ) {
    return undefined;
  }
  return Object.hasOwn(receiver.fields, name) ? receiver.fields[name] : undefined;
}

/** `receiver.name`: an entry of a map, a field of a struct, or a method of what a function gave. */
export function fieldOf(state: State, receiver: Value, isElement: boolean, name: string, call: FieldCall): Value {
  if (receiver === undefined) {
    if (state.world.missingKey === 'error') throw execFault(state, `nil data; no entry for key ${goQuoted(name)}`);
    return undefined;
  }
  if (receiver === null) throw execFault(state, `nil pointer evaluating interface {}.${name}`);
  if (receiver instanceof GoMap) return ofMap(state, receiver, name, call.hasArguments);
  const method = methodOf(receiver, name);
  if (method) return call.call(method, name);
  throw execFault(state, `can't evaluate field ${name} in type ${asElementType(receiver, isElement)}`);
}

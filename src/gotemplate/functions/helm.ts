import { Fault } from '#core/fault.ts';
import type { RenderBudget } from '../limits.ts';
import { GoMap, GoSlice, mapOf, typeName, type Value } from '../value/value.ts';
import { type Functions, fn } from './function.ts';
import { parseJson } from './json.ts';
import { yamlFunctions } from './yaml.ts';

const JSON_TYPES: Readonly<Record<string, string>> = { string: 'string', boolean: 'bool' };

/** The value of a JSON text, or what encoding/json says of a text that holds no such value. */
function jsonOrMessage<T extends GoMap | GoSlice>(text: string, wanted: T, budget: RenderBudget): T | string {
  let value: Value;
  try {
    value = parseJson(text, budget);
  } catch (thrown) {
    if (thrown instanceof Fault && thrown.kind === 'invalid') return thrown.message;
    throw thrown;
  }
  if (value === null) return wanted;
  if (value instanceof wanted.constructor) return value as T;
  const type = value instanceof GoMap ? 'object' : value instanceof GoSlice ? 'array' : JSON_TYPES[typeof value];
  return `json: cannot unmarshal ${type ?? 'number'} into Go value of type ${typeName(wanted)}`;
}

/** The functions that Helm adds to Sprig's or replaces. `lookup` finds nothing: rendering reads no cluster. */
export const helmFunctions: Functions = {
  ...yamlFunctions,
  include: fn(['string', 'any'], (name, data, run) => run.include(name, data)),
  tpl: fn(['string', 'any'], (text, data, run) => run.renderText(text, data)),
  required: fn(['string', 'any'], (message, value) => {
    if (value === null || value === '') throw new Fault('invalid', message);
    return value;
  }),
  lookup: fn(['string', 'string', 'string', 'string'], () => mapOf([])),
  fromJson: fn(['string'], (text, { budget }) => {
    const value = jsonOrMessage(text, new GoMap(new Map(), 'interface {}', true), budget);
    return typeof value === 'string' ? mapOf([['Error', value]]) : value;
  }),
  fromJsonArray: fn(['string'], (text, { budget }) => {
    const value = jsonOrMessage(text, new GoSlice([], 'interface {}', true), budget);
    return typeof value === 'string' ? new GoSlice([value]) : value;
  }),
};

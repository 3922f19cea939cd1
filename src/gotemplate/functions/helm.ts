import { Fault } from '#core/fault.ts';
import { GoMap, GoSlice, mapOf } from '../value/value.ts';
import { type Functions, fn } from './function.ts';
import { orElse, parseJson } from './json.ts';

/** The functions that Helm adds to Sprig's, apart from those for YAML. `lookup` finds nothing: rendering reads no cluster. */
export const helmFunctions: Functions = {
  include: fn(['string', 'any'], (name, data, run) => run.include(name, data)),
  tpl: fn(['string', 'any'], (text, data, run) => run.renderText(text, data)),
  required: fn(['string', 'any'], (message, value) => {
    if (value === null || value === '') throw new Fault('invalid', message);
    return value;
  }),
  fail: fn(['string'], (message) => {
    throw new Fault('invalid', message);
  }),
  lookup: fn(['string', 'string', 'string', 'string'], () => mapOf([])),
  fromJsonArray: fn(['string'], (text, { budget }) => {
    const value = orElse(() => parseJson(text, budget), undefined);
    if (value instanceof GoSlice) return value;
    return new GoSlice([
      value instanceof GoMap ? 'json: cannot unmarshal object into Go value of type []interface {}' : 'invalid JSON',
    ]);
  }),
};

import { Fault } from '#core/fault.ts';
import { deepEqual } from '../value/equality.ts';
import { isTrue, kindName, typeName } from '../value/value.ts';
import { type Functions, fn, variadic } from './function.ts';

/** Sprig's functions for defaults, choices, types and refusal. */
export const defaultFunctions: Functions = {
  default: variadic(['any'], 'any', (otherwise, [given]) => (isTrue(given) ? given : otherwise)),
  empty: fn(['any'], (value) => !isTrue(value)),
  coalesce: variadic([], 'any', (values) => values.find(isTrue) ?? null),
  all: variadic([], 'any', (values) => values.every(isTrue)),
  any: variadic([], 'any', (values) => values.some(isTrue)),
  ternary: fn(['any', 'any', 'bool'], (yes, no, isYes) => (isYes ? yes : no)),
  typeOf: fn(['any'], (value) => typeName(value)),
  typeIs: fn(['string', 'any'], (type, value) => typeName(value) === type),
  typeIsLike: fn(['string', 'any'], (type, value) => typeName(value) === type || typeName(value) === `*${type}`),
  kindOf: fn(['any'], (value) => kindName(value)),
  kindIs: fn(['string', 'any'], (kind, value) => kindName(value) === kind),
  deepEqual: fn(['any', 'any'], (a, b, { budget }) => deepEqual(a, b, budget)),
  fail: fn(['string'], (message) => {
    throw new Fault('invalid', message);
  }),
};

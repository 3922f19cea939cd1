import { Fault } from '#core/fault.ts';
import { sprintf } from '../fmt/printf.ts';
import { compareText, Float, GoMap, GoSlice, Int, isInteger, kindName, typeName, type Value } from '../value/value.ts';
import { type Functions, fn, type TemplateRun, variadic } from './function.ts';

type BasicKind = 'bool' | 'int' | 'uint' | 'float' | 'string' | 'other';

function basicKind(value: Value): BasicKind {
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'string') return 'string';
  if (value instanceof Float) return 'float';
  if (value instanceof Int) return value.type.startsWith('u') ? 'uint' : 'int';
  return typeof value === 'number' ? 'int' : 'other';
}

const incompatible = (a: Value, b: Value): Fault =>
  new Fault('invalid', `incompatible types for comparison: ${typeName(a)} and ${typeName(b)}`);

const whole = (value: number | Int): bigint => (typeof value === 'number' ? BigInt(value) : value.value);

const isNil = (value: Value): boolean => {
  if (value === undefined || value === null) return true;
  return (value instanceof GoMap || value instanceof GoSlice) && value.isNil;
};

/** Maps, lists and nil: nil equals nil alone, nothing else can be compared. */
function equalOthers(a: Value, b: Value, { budget }: TemplateRun): boolean {
  const [kindA, kindB] = [kindName(a), kindName(b)];
  if (kindA !== kindB && kindA !== 'invalid' && kindB !== 'invalid') {
    throw new Fault(
      'invalid',
      sprintf('non-comparable types %s: %s, %s: %v', [a, typeName(a), typeName(b), b], budget),
    );
  }
  if (isNil(a) || isNil(b)) return isNil(a) === isNil(b);
  if (b instanceof GoMap || b instanceof GoSlice) {
    throw new Fault('invalid', sprintf('non-comparable type %s: %s', [b, typeName(b)], budget));
  }
  return a === b;
}

function isEqual(a: Value, b: Value, run: TemplateRun): boolean {
  const [kindA, kindB] = [basicKind(a), basicKind(b)];
  if (isInteger(a) && isInteger(b))
    return typeof a === 'number' && typeof b === 'number' ? a === b : whole(a) === whole(b);
  if (kindA !== kindB) {
    if ((a ?? null) !== null && (b ?? null) !== null) throw incompatible(a, b);
    return false;
  }
  if (kindA === 'other') return equalOthers(a, b, run);
  return a instanceof Float && b instanceof Float ? a.value === b.value : a === b;
}

const badType = (): Fault => new Fault('invalid', 'invalid type for comparison');

function isLess(a: Value, b: Value): boolean {
  const [kindA, kindB] = [basicKind(a), basicKind(b)];
  if (kindA === 'other' || kindB === 'other') throw badType();
  if (isInteger(a) && isInteger(b)) return whole(a) < whole(b);
  if (kindA !== kindB) throw incompatible(a, b);
  if (kindA === 'bool') throw badType();
  if (a instanceof Float && b instanceof Float) return a.value < b.value;
  return compareText(a as string, b as string) < 0;
}

/** Comparison with Go's typing: ints with ints, floats with floats, strings with strings. */
export const comparisonFunctions: Functions = {
  eq: variadic(['value'], 'value', (first, others, run) => {
    if (others.length === 0) throw new Fault('invalid', 'missing argument for comparison');
    return others.some((other) => isEqual(first, other, run));
  }),
  ne: fn(['value', 'value'], (a, b, run) => !isEqual(a, b, run)),
  lt: fn(['value', 'value'], (a, b) => isLess(a, b)),
  le: fn(['value', 'value'], (a, b, run) => isLess(a, b) || isEqual(a, b, run)),
  gt: fn(['value', 'value'], (a, b, run) => !(isLess(a, b) || isEqual(a, b, run))),
  ge: fn(['value', 'value'], (a, b) => !isLess(a, b)),
};

import { Fault } from '#core/fault.ts';
import { plainText } from '../fmt/print.ts';
import type { RenderBudget } from '../limits.ts';
import { parseDecimal } from '../value/numbers.ts';
import { Float, GoSlice, type Int, int64, intOf, type Value } from '../value/value.ts';
import { toFloat, toInteger } from './cast.ts';
import { addDecimals, type Decimal, decimalOf, divideDecimals, multiplyDecimals, toNumber } from './decimal.ts';
import { type Functions, fn, variadic } from './function.ts';

/** `until` and its kin: numbers from start, without the stop. */
function steps(start: number, stop: number, step: number, budget: RenderBudget): number[] {
  if (stop < start ? step >= 0 : step <= 0) return [];
  const count = Math.ceil((stop - start) / step);
  budget.step(count);
  return Array.from({ length: count }, (_, n) => start + n * step);
}

const ints = (numbers: readonly number[]): GoSlice => new GoSlice([...numbers], 'int');

function sequence(params: readonly number[], budget: RenderBudget): string {
  const [first = 0, second = 0, third = 0] = params;
  const joined = (start: number, stop: number, step: number): string => steps(start, stop, step, budget).join(' ');
  if (params.length === 1) {
    const step = first < 1 ? -1 : 1;
    return joined(1, first + step, step);
  }
  if (params.length === 2) {
    const step = second < first ? -1 : 1;
    return joined(first, second + step, step);
  }
  if (params.length !== 3) return '';
  if (third >= first) return joined(first, third + 1, second);
  return second > 0 ? '' : joined(first, third - 1, second);
}

function divided(a: bigint, b: bigint, by: (a: bigint, b: bigint) => bigint): Int {
  if (b === 0n) throw new Fault('invalid', 'runtime error: integer divide by zero');
  return int64(by(a, b));
}

const decimals = (first: Value, others: readonly Value[], combine: (a: Decimal, b: Decimal) => Decimal): Float =>
  new Float(toNumber(others.map((value) => decimalOf(toFloat(value))).reduce(combine, decimalOf(toFloat(first)))));

const negated = ({ digits, exponent }: Decimal): Decimal => ({ digits: -digits, exponent });

function rounded(value: number, places: number, roundOn: number): Float {
  const power = 10 ** places;
  const digit = power * value;
  const fraction = digit - Math.trunc(digit);
  return new Float((fraction >= roundOn ? Math.ceil(digit) : Math.floor(digit)) / power);
}

const pickInteger = (isBetter: (a: bigint, b: bigint) => boolean) =>
  variadic(['any'], 'any', (first, others) =>
    int64(others.map(toInteger).reduce((best, next) => (isBetter(next, best) ? next : best), toInteger(first))),
  );

const largest = pickInteger((a, b) => a > b);

function octal(text: string): bigint {
  if (!/^[+-]?[0-7]+$/.test(text)) return 0n;
  const value = BigInt(`0o${text.replace(/^[+-]/, '')}`);
  const signed = text.startsWith('-') ? -value : value;
  return BigInt.asIntN(64, signed) === signed ? signed : 0n;
}

/** Sprig's functions for numbers: integers are int64, fractions go through exact decimals. */
export const numericFunctions: Functions = {
  atoi: fn(['string'], (text) => intOf('int', parseDecimal(text) ?? 0n)),
  int: fn(['any'], (value) => intOf('int', toInteger(value))),
  int64: fn(['any'], (value) => int64(toInteger(value))),
  float64: fn(['any'], (value) => new Float(toFloat(value))),
  toDecimal: fn(['any'], (value, { budget }) => int64(octal(plainText(value, budget)))),
  until: fn(['int'], (count, { budget }) => ints(steps(0, count, count < 0 ? -1 : 1, budget))),
  untilStep: fn(['int', 'int', 'int'], (start, stop, step, { budget }) => ints(steps(start, stop, step, budget))),
  seq: variadic([], 'int', (params, { budget }) => sequence(params, budget)),
  add1: fn(['any'], (value) => int64(toInteger(value) + 1n)),
  add: variadic([], 'any', (values) => int64(values.map(toInteger).reduce((a, b) => a + b, 0n))),
  sub: fn(['any', 'any'], (a, b) => int64(toInteger(a) - toInteger(b))),
  div: fn(['any', 'any'], (a, b) => divided(toInteger(a), toInteger(b), (x, y) => x / y)),
  mod: fn(['any', 'any'], (a, b) => divided(toInteger(a), toInteger(b), (x, y) => x % y)),
  mul: variadic(['any'], 'any', (first, others) =>
    int64(others.map(toInteger).reduce((a, b) => BigInt.asIntN(64, a * b), toInteger(first))),
  ),
  add1f: fn(['any'], (value) => decimals(value, [1], addDecimals)),
  addf: variadic([], 'any', (values) => decimals(0, values, addDecimals)),
  subf: variadic(['any'], 'any', (first, others) => decimals(first, others, (a, b) => addDecimals(a, negated(b)))),
  divf: variadic(['any'], 'any', (first, others) => decimals(first, others, divideDecimals)),
  mulf: variadic(['any'], 'any', (first, others) => decimals(first, others, multiplyDecimals)),
  biggest: largest,
  max: largest,
  min: pickInteger((a, b) => a < b),
  maxf: variadic(['any'], 'any', (first, others) => new Float(Math.max(toFloat(first), ...others.map(toFloat)))),
  minf: variadic(['any'], 'any', (first, others) => new Float(Math.min(toFloat(first), ...others.map(toFloat)))),
  ceil: fn(['any'], (value) => new Float(Math.ceil(toFloat(value)))),
  floor: fn(['any'], (value) => new Float(Math.floor(toFloat(value)))),
  round: variadic(['any', 'int'], 'float64', (value, places, [roundOn = 0.5]) =>
    rounded(toFloat(value), places, roundOn),
  ),
};

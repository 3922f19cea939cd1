import { Fault } from '#core/fault.ts';
import { goQuoted, unescapeAt } from '../fmt/quote.ts';
import { fitsInt64, fitsUint64, parseFloat64, parseInteger } from '../value/numbers.ts';
import { Float, intOf, type Value } from '../value/value.ts';
import type { NumberNode } from './nodes.ts';
import type { Token } from './tokens.ts';

function charConstant({ at, value }: Token): NumberNode {
  const char = unescapeAt(value, 1, "'");
  if (value.slice(char.end) !== "'") throw new Fault('invalid', `malformed character constant: ${value}`);
  return { kind: 'number', at, text: value, whole: char.code, float: new Float(char.code), ideal: char.code };
}

const looksLikeFloat = (text: string): boolean => /[.eEpP]/.test(text) && !(/^0[xX]/.test(text) && !/[pP]/.test(text));

function fromInteger(token: Token, integer: bigint): NumberNode {
  const { at, value: text } = token;
  const whole: Value = fitsInt64(integer) ? intOf('int', integer) : undefined;
  const float = new Float(Number(integer));
  return { kind: 'number', at, text, whole, float, ideal: looksLikeFloat(text) ? float : whole };
}

const TWO_63 = 2 ** 63;

function fromFloat(token: Token, number: number): NumberNode {
  const { at, value: text } = token;
  if (!/[.eEpP]/.test(text)) throw new Fault('invalid', `integer overflow: ${goQuoted(text)}`);
  const isWhole = Number.isInteger(number) && number >= -TWO_63 && number < TWO_63;
  const whole = isWhole ? intOf('int', BigInt(number)) : undefined;
  const float = new Float(number);
  return { kind: 'number', at, text, whole, float, ideal: looksLikeFloat(text) ? float : whole };
}

/** A number constant, with all that it can be: Go decides by the place where it is used. */
export function parseNumber(token: Token): NumberNode {
  const { type, value: text } = token;
  if (type === 'char constant') return charConstant(token);
  if (type === 'complex' || text.endsWith('i')) {
    throw new Fault('invalid', `complex constant ${goQuoted(text)} is not supported`);
  }
  const integer = parseInteger(text);
  if (integer !== undefined && (fitsInt64(integer) || fitsUint64(integer))) return fromInteger(token, integer);
  const float = parseFloat64(text);
  if (float !== undefined) return fromFloat(token, float);
  // Go reads a number beyond uint64 as a float, and refuses it when it looks like an integer.
  throw new Fault(
    'invalid',
    `${integer === undefined ? 'illegal number syntax' : 'integer overflow'}: ${goQuoted(text)}`,
  );
}

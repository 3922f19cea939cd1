// Exact decimals, as the Go library decimal computes them for Sprig's addf, subf, mulf and divf.
import { Fault } from '#core/fault.ts';

/** `digits` times ten to the power of `exponent`. */
export interface Decimal {
  readonly digits: bigint;
  readonly exponent: number;
}

/** The shortest decimal that reads back as that float64. */
export function decimalOf(value: number): Decimal {
  if (!Number.isFinite(value))
    throw new Fault(
      'invalid',
      `Cannot create a Decimal from ${Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'}`,
    );
  const [mantissa = '0', exponent = '0'] = value.toExponential().split('e');
  const [whole = '0', fraction = ''] = mantissa.split('.');
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length };
}

export const toNumber = ({ digits, exponent }: Decimal): number => Number(`${digits}e${exponent}`);

const scaled = ({ digits, exponent }: Decimal, to: number): bigint => digits * 10n ** BigInt(exponent - to);

export function addDecimals(a: Decimal, b: Decimal): Decimal {
  const exponent = Math.min(a.exponent, b.exponent);
  return { digits: scaled(a, exponent) + scaled(b, exponent), exponent };
}

export const multiplyDecimals = (a: Decimal, b: Decimal): Decimal => ({
  digits: a.digits * b.digits,
  exponent: a.exponent + b.exponent,
});

const PLACES = 16;

const abs = (value: bigint): bigint => (value < 0n ? -value : value);

/** The quotient to 16 places, halves away from zero. */
export function divideDecimals(a: Decimal, b: Decimal): Decimal {
  if (b.digits === 0n) throw new Fault('invalid', 'decimal division by 0');
  const shift = a.exponent - b.exponent + PLACES;
  const over = shift >= 0 ? a.digits * 10n ** BigInt(shift) : a.digits;
  const under = shift >= 0 ? b.digits : b.digits * 10n ** BigInt(-shift);
  const quotient = over / under;
  const isUp = abs(over % under) * 2n >= abs(under);
  const sign = a.digits < 0n === b.digits < 0n ? 1n : -1n;
  return { digits: isUp ? quotient + sign : quotient, exponent: -PLACES };
}

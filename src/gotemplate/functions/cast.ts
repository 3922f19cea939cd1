// Numbers from anything, as the Go library cast makes them for Sprig: what is no number is 0.
import { fitsInt64, parseFloat64, parseInteger } from '../value/numbers.ts';
import { Float, Int, type Value } from '../value/value.ts';

/** `"12.0"` is read as 12: zeros after a point are cut off. */
function withoutZeroFraction(text: string): string {
  return /\.0+$/.test(text) ? text.slice(0, text.lastIndexOf('.')) : text;
}

const LEAST = -(2n ** 63n);

/** A float64 as an int64; what does not fit is the least of all, as processors have it. */
function truncated(value: number): bigint {
  if (!Number.isFinite(value)) return LEAST;
  const whole = BigInt(Math.trunc(value));
  return fitsInt64(whole) ? whole : LEAST;
}

function integerText(text: string): bigint {
  const value = parseInteger(withoutZeroFraction(text));
  return value !== undefined && fitsInt64(value) ? value : 0n;
}

/** As cast.ToInt64. */
export function toInteger(value: Value): bigint {
  if (typeof value === 'number') return BigInt(value);
  if (typeof value === 'string') return integerText(value);
  if (typeof value === 'boolean') return value ? 1n : 0n;
  if (value instanceof Int) return BigInt.asIntN(64, value.value);
  return value instanceof Float ? truncated(value.value) : 0n;
}

/** As cast.ToFloat64. */
export function toFloat(value: Value): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'string') return parseFloat64(value) ?? 0;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (value instanceof Int) return Number(value.value);
  return value instanceof Float ? value.value : 0;
}

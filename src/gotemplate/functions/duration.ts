// Spans of time in Go's form, in nanoseconds: templates print and read them with units that the settings do not have.
import { Fault } from '#core/fault.ts';
import { goQuoted } from '../fmt/quote.ts';

const UNITS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
const PIECE = /(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/y;

const invalid = (text: string): Fault => new Fault('invalid', `time: invalid duration ${goQuoted(text)}`);

/** Why a piece cannot be read: it has no number, no unit, or one that is not known. */
function unreadable(rest: string, text: string): Fault {
  const [number] = /^(?:\d+\.?\d*|\.\d+)/.exec(rest) ?? [];
  if (number === undefined) return invalid(text);
  const [unit = ''] = /^[^\d.]*/.exec(rest.slice(number.length)) ?? [];
  const what = unit === '' ? 'missing unit' : `unknown unit ${goQuoted(unit)}`;
  return new Fault('invalid', `time: ${what} in duration ${goQuoted(text)}`);
}

/** As time.ParseDuration. */
export function parseGoDuration(text: string): bigint {
  const bare = text.replace(/^[+-]/, '');
  if (bare === '0') return 0n;
  if (bare === '') throw invalid(text);
  let total = 0n;
  for (let at = 0; at < bare.length; ) {
    PIECE.lastIndex = at;
    const [whole = '', amount = '', unit = ''] = PIECE.exec(bare) ?? [];
    if (whole === '') throw unreadable(bare.slice(at), text);
    const [integer = '', fraction = ''] = amount.split('.');
    total += (BigInt(integer + fraction) * (UNITS[unit] ?? 0n)) / 10n ** BigInt(fraction.length);
    at += whole.length;
  }
  if (total >= 2n ** 63n) throw invalid(text);
  return text.startsWith('-') ? -total : total;
}

const decimal = (value: bigint, unit: bigint): string => {
  const fraction = String(value % unit)
    .padStart(String(unit).length - 1, '0')
    .replace(/0+$/, '');
  return `${value / unit}${unit > 1n && fraction !== '' ? `.${fraction}` : ''}`;
};

/** As Duration.String: `1h2m3.5s`, `1.5ms`, `0s`. */
export function durationText(nanos: bigint): string {
  const wrapped = BigInt.asIntN(64, nanos);
  const size = wrapped < 0n ? -wrapped : wrapped;
  const sign = wrapped < 0n ? '-' : '';
  if (size === 0n) return '0s';
  if (size < 1_000n) return `${sign}${size}ns`;
  if (size < 1_000_000n) return `${sign}${decimal(size, 1_000n)}µs`;
  if (size < 1_000_000_000n) return `${sign}${decimal(size, 1_000_000n)}ms`;
  const hours = size / 3_600_000_000_000n;
  const minutes = (size / 60_000_000_000n) % 60n;
  const seconds = decimal(size % 60_000_000_000n, 1_000_000_000n);
  const large = hours > 0n ? `${hours}h${minutes}m` : minutes > 0n ? `${minutes}m` : '';
  return `${sign}${large}${seconds}s`;
}

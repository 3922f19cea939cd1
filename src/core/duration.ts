import { Fault } from './fault.ts';

// Go's grammar (time.ParseDuration), plus days, and bare numbers of seconds, which proto-JSON writers produce.
const UNITS_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
const PART = /(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h|d)/y;
const BARE_NUMBER = /^(\d+\.?\d*|\.\d+)$/;

// Go counts nanoseconds in 64 bits; what it cannot hold, the agents and clouds that speak Go cannot either.
const LONGEST_MS = 2 ** 63 / 1e6;

function faulty(text: string | number, why: string): Fault {
  return new Fault('invalid', `"${text}" is ${why}.`, { remedy: 'Write it like 90s, 5m, 1h30m or 250ms.' });
}

/** Reads `90s`, `1h30m`, `1.5s`, `-2m` or a number of seconds; answers in milliseconds. */
export function parseDuration(text: string | number): number {
  const ms = typeof text === 'number' ? text * 1_000 : readText(text);
  if (!Number.isFinite(ms) || Math.abs(ms) >= LONGEST_MS) throw faulty(text, 'longer than the 292 years allowed');
  return toNanosecond(ms) + 0;
}

function readText(text: string): number {
  const [, sign, unsigned = ''] = /^([+-]?)(.*)$/s.exec(text.trim()) ?? [];
  const direction = sign === '-' ? -1 : 1;
  if (BARE_NUMBER.test(unsigned)) return direction * Number(unsigned) * 1_000;
  let totalMs = 0;
  PART.lastIndex = 0;
  do {
    const part = PART.exec(unsigned);
    if (!part) throw faulty(text, 'not a duration');
    totalMs += Number(part[1]) * (UNITS_MS[part[2] as string] as number);
  } while (PART.lastIndex < unsigned.length);
  return direction * totalMs;
}

// Sums of fractions drift; Go's answer is a whole number of nanoseconds. In long spans a double has none to round.
function toNanosecond(ms: number): number {
  const nanoseconds = Math.round(ms * 1e6);
  return Number.isSafeInteger(nanoseconds) ? nanoseconds / 1e6 : ms;
}

const SHOWN: readonly (readonly [string, number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
  ['ms', 1],
];
const NANOSECONDS_SHOWN: readonly (readonly [string, number])[] = [
  ['us', 1_000],
  ['ns', 1],
];

/** The text that `parseDuration` reads back, largest units first: `1h30m`, `90ms`, `0s`. */
export function formatDuration(ms: number): string {
  if (ms < 0) return `-${formatDuration(-ms)}`;
  const nanoseconds = Math.round(ms * 1e6);
  const isExact = Number.isSafeInteger(nanoseconds);
  const wholeMs = isExact ? Math.floor(nanoseconds / 1e6) : Math.round(ms);
  const rest = isExact ? nanoseconds % 1e6 : 0;
  return (inUnits(wholeMs, SHOWN) + inUnits(rest, NANOSECONDS_SHOWN)).replace(/^$/, '0s');
}

function inUnits(amount: number, units: readonly (readonly [string, number])[]): string {
  let rest = amount;
  let text = '';
  for (const [unit, size] of units) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) text += `${count}${unit}`;
  }
  return text;
}

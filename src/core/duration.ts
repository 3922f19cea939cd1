import { Fault } from './fault.ts';

// Go's grammar (time.ParseDuration), plus bare numbers of seconds, which proto-JSON writers produce, and days.
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

/** Reads `90s`, `1h30m`, `1.5s`, `-2m` or a number of seconds; answers in milliseconds. */
export function parseDuration(text: string | number): number {
  if (typeof text === 'number') return text * 1_000;
  const unsigned = text.trim().replace(/^[+-]/, '');
  const sign = text.trim().startsWith('-') ? -1 : 1;
  if (/^\d+(\.\d+)?$/.test(unsigned)) return sign * Number(unsigned) * 1_000;
  let totalMs = 0;
  PART.lastIndex = 0;
  do {
    const part = PART.exec(unsigned);
    if (!part)
      throw new Fault('invalid', `"${text}" is not a duration.`, { remedy: 'Write it like 90s, 5m, 1h30m or 250ms.' });
    totalMs += Number(part[1]) * (UNITS_MS[part[2] as string] as number);
  } while (PART.lastIndex < unsigned.length);
  return sign * totalMs;
}

const SHOWN: readonly (readonly [string, number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
  ['ms', 1],
];

/** The shortest text that `parseDuration` reads back: `1h30m`, `90ms`, `0s`. */
export function formatDuration(ms: number): string {
  if (ms < 0) return `-${formatDuration(-ms)}`;
  let restMs = Math.round(ms);
  let text = '';
  for (const [unit, unitMs] of SHOWN) {
    const count = Math.floor(restMs / unitMs);
    restMs -= count * unitMs;
    if (count > 0) text += `${count}${unit}`;
  }
  return text || '0s';
}

// How figures, spans and moments are written.

const THIN_SPACE = '\u2009';

/** Figures of 10,000 and more get thin spaces. */
export function number(value: number): string {
  const text = String(Number.isInteger(value) ? value : Math.round(value * 100) / 100);
  return Math.abs(value) < 10_000 ? text : text.replace(/\B(?=(\d{3})+(?!\d))/g, THIN_SPACE);
}

/** Two digits below 100, none above. */
export const dollars = (value: number): string =>
  value < 100 ? `$${value.toFixed(2)}` : `$${number(Math.round(value))}`;

/** `1 worker`, `2 workers`. */
export const counted = (count: number, noun: string): string => `${number(count)} ${noun}${count === 1 ? '' : 's'}`;

const UNITS: readonly (readonly [unit: string, ms: number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
];

/** The two largest units: `3 min 12 s`. */
export function span(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  const at = UNITS.findIndex(([, size]) => ms >= size);
  const [unit, size] = UNITS[at] ?? ['s', 1_000];
  const next = UNITS[at + 1];
  const rest = next ? Math.floor((ms % size) / next[1]) : 0;
  return `${Math.floor(ms / size)} ${unit}${next && rest > 0 ? ` ${rest} ${next[0]}` : ''}`;
}

/** One unit: `3 min ago`, `in 2 h`. */
export function ago(atMs: number, nowMs: number): string {
  const ms = nowMs - atMs;
  const size = Math.abs(ms);
  if (size < 2_000) return 'now';
  const [unit, unitMs] = UNITS.find(([, one]) => size >= one) ?? ['s', 1_000];
  const text = `${Math.floor(size / unitMs)} ${unit}`;
  return ms < 0 ? `in ${text}` : `${text} ago`;
}

export type Zone = 'local' | 'utc';

const formats = new Map<string, Intl.DateTimeFormat>();

function format(zone: Zone, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${zone} ${Object.keys(options)}`;
  const found =
    formats.get(key) ??
    new Intl.DateTimeFormat('sv-SE', { ...options, hourCycle: 'h23', ...(zone === 'utc' && { timeZone: 'UTC' }) });
  formats.set(key, found);
  return found;
}

/** `2026-01-01 12:00:00 UTC`. */
export const moment = (atMs: number, zone: Zone): string =>
  `${format(zone, { dateStyle: 'short', timeStyle: 'medium' }).format(atMs)}${zone === 'utc' ? ' UTC' : ''}`;

/** `12:00`. */
export const clockTime = (atMs: number, zone: Zone): string =>
  format(zone, { hour: '2-digit', minute: '2-digit' }).format(atMs);

/** An answer of the API as text that names it. */
export const jsonText = (value: unknown): string => JSON.stringify(value, undefined, 2);

const SIZES: readonly (readonly [unit: string, bytes: number])[] = [
  ['GiB', 2 ** 30],
  ['MiB', 2 ** 20],
  ['KiB', 2 ** 10],
];

/** `64 MiB`, `1.5 KiB`, `12 bytes`. */
export function size(bytes: number): string {
  const [unit, one] = SIZES.find(([, each]) => bytes >= each) ?? [];
  return unit === undefined || one === undefined
    ? counted(bytes, 'byte')
    : `${number(Math.round((bytes / one) * 10) / 10)} ${unit}`;
}

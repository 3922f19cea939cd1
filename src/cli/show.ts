import { stringify } from 'yaml';
import { type Column, renderTable } from './table.ts';

export const FORMATS = ['table', 'json', 'yaml'] as const;
/** Lists have more to show than most people want to see. */
export const LIST_FORMATS = ['table', 'wide', 'json', 'yaml'] as const;
export type Format = (typeof LIST_FORMATS)[number];

/** Anything in the format asked for; `table` is how people see it. */
export function show(value: unknown, format: Format, table: () => string): string {
  if (format === 'json') return JSON.stringify(value, null, 2);
  return format === 'yaml' ? stringify(value).trimEnd() : table();
}

export interface TableLayout<T> {
  readonly columns: readonly Column<T>[];
  /** Said instead of an empty table. */
  readonly nothing: string;
}

export function showList<T>(rows: readonly T[], format: Format, { columns, nothing }: TableLayout<T>): string {
  const shown = columns.filter(({ isWide }) => !isWide || format === 'wide');
  return show(rows, format, () => (rows.length === 0 ? nothing : renderTable(rows, shown)));
}

const UNITS: readonly (readonly [number, string])[] = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'm'],
];

/** `42s`, `5m`, `3h`, `12d`: as exact as a glance needs. */
export function age(fromMs: number | undefined, nowMs: number): string {
  if (fromMs === undefined) return '-';
  const seconds = Math.max(0, Math.round((nowMs - fromMs) / 1_000));
  for (const [size, unit] of UNITS) if (seconds >= 2 * size) return `${Math.floor(seconds / size)}${unit}`;
  return `${seconds}s`;
}

/** The same of a moment as the API writes it. */
export const ageOf = (time: string | undefined, nowMs: number): string =>
  age(time === undefined ? undefined : Date.parse(time), nowMs);

/** A moment as people read it: to the second, in UTC. */
export const moment = (time: string): string => time.replace('T', ' ').replace(/\.\d+Z$/, 'Z');

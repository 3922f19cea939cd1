import { stringify } from 'yaml';
import { Fault } from '#core/fault.ts';
import { type Column, renderTable } from './table.ts';

export const FORMATS = ['table', 'json', 'yaml'] as const;
export type Format = (typeof FORMATS)[number];

export function checkFormat(text: string): Format {
  const format = FORMATS.find((known) => known === text);
  if (!format)
    throw new Fault('invalid', `"${text}" is not an output format.`, { remedy: 'Use -o table, json or yaml.' });
  return format;
}

/** Anything in the format asked for; `table` is how people see it. */
export function show(value: unknown, format: Format, table: () => string): string {
  if (format === 'json') return JSON.stringify(value, null, 2);
  return format === 'yaml' ? stringify(value).trimEnd() : table();
}

export interface Listing<T> {
  readonly columns: readonly Column<T>[];
  /** Said instead of an empty table. */
  readonly nothing: string;
}

export function showList<T>(rows: readonly T[], format: Format, { columns, nothing }: Listing<T>): string {
  return show(rows, format, () => (rows.length === 0 ? nothing : renderTable(rows, columns)));
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

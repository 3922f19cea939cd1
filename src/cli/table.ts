import { stripVTControlCharacters, styleText } from 'node:util';

export interface Column<T> {
  readonly title: string;
  readonly value: (row: T) => string | number | undefined;
  readonly align?: 'right';
  /** Shown only with `-o wide`. */
  readonly isWide?: true;
}

/** Foreign text as one line without control characters. */
export const oneLine = (text: string): string =>
  text
    .trim()
    .replace(/\s*[\n\r]\s*/g, '; ')
    .replace(/\p{Cc}/gu, ' ');

/** The same of names with values. */
export const pairsLine = (pairs: Readonly<Record<string, unknown>>): string =>
  oneLine(
    Object.entries(pairs)
      .map(([name, value]) => `${name}=${value}`)
      .join(', '),
  );

const width = (text: string): number => [...stripVTControlCharacters(text)].length;

/** Rows in columns as wide as their widest cell; the last column is left ragged. */
export function renderTable<T>(rows: readonly T[], columns: readonly Column<T>[]): string {
  const cells = rows.map((row) => columns.map(({ value }) => String(value(row) ?? '-')));
  const widths = columns.map(({ title }, n) =>
    Math.max(width(title), ...cells.map((line) => width(line[n] as string))),
  );
  const pad = (text: string, n: number): string => {
    const gap = ' '.repeat((widths[n] as number) - width(text));
    if (columns[n]?.align === 'right') return gap + text;
    return n === columns.length - 1 ? text : text + gap;
  };
  const header = columns.map(({ title }, n) => pad(title, n)).join('  ');
  return [styleText('bold', header), ...cells.map((line) => line.map(pad).join('  ').trimEnd())].join('\n');
}

/** Label and value, one a line; values that are absent are left out. */
export function renderFacts(facts: readonly (readonly [string, string | number | undefined])[]): string {
  const known = facts.filter(([, value]) => value !== undefined && value !== '');
  const widest = Math.max(...known.map(([label]) => label.length));
  return known.map(([label, value]) => `${styleText('bold', label.padEnd(widest))}  ${value}`).join('\n');
}

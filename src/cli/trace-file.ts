// A table of sessions as CSV: when each was submitted, and how long it ran.
import { Fault } from '#core/fault.ts';
import { nearest } from '#core/nearest.ts';
import { writtenTimeMs } from '#core/written-time.ts';
import type { ForecastIn } from '../api/wire/forecast.ts';

export type TracedSession = NonNullable<ForecastIn['trace']>[number];

/** What a trace is read from, by the names that users write before `=`. */
export type TraceColumns = Readonly<Record<string, string>>;

const MEANINGS = ['submitted', 'seconds', 'ended', 'slots'] as const;
type Meaning = (typeof MEANINGS)[number];

/** Of `submitted=creation_time,ended=deletion_time`. */
export function traceColumns(text: string): TraceColumns {
  const pairs = text.split(',').map((part) => part.split('=').map((word) => word.trim()));
  for (const [meaning = '', column = ''] of pairs) {
    const isKnown = (MEANINGS as readonly string[]).includes(meaning);
    if (isKnown && column !== '') continue;
    const meant = isKnown ? undefined : nearest(meaning, MEANINGS);
    throw new Fault('invalid', `--columns ${text}: "${meaning}" ${isKnown ? 'names no column' : 'is none of them'}.`, {
      remedy: meant
        ? `Did you mean ${meant}?`
        : 'Write it like submitted=creation_time,ended=deletion_time; known are submitted, seconds, ended and slots.',
    });
  }
  return Object.fromEntries(pairs);
}

/** The sessions of a file; a row that was never submitted or never ended is none. */
export function readTrace(name: string, text: string, columns: TraceColumns = {}): TracedSession[] {
  const [header = [], ...rows] = parseCsv(text);
  const place = (meaning: Meaning): number => placeOf(name, header, meaning, columns[meaning]);
  const submittedAt = place('submitted');
  const [secondsAt, endedAt, slotsAt] = [place('seconds'), place('ended'), place('slots')];
  if (submittedAt < 0 || (secondsAt < 0 && endedAt < 0)) throw lacking(name, header, submittedAt < 0);
  return rows.flatMap((row, index): TracedSession[] => {
    const read = (at: number): number | undefined => {
      const cell = at < 0 ? '' : (row[at] ?? '').trim();
      return cell === '' ? undefined : secondsOf(cell, { name, line: index + 2, column: header[at] ?? '' });
    };
    const submitted = read(submittedAt);
    const ended = read(endedAt);
    const seconds = read(secondsAt) ?? (ended === undefined ? undefined : ended - (submitted ?? 0));
    if (submitted === undefined || seconds === undefined || seconds < 0) return [];
    const slots = read(slotsAt);
    return [{ submitted, seconds, ...(slots === undefined ? {} : { slots }) }];
  });
}

function placeOf(name: string, header: readonly string[], meaning: Meaning, column: string | undefined): number {
  const found = header.indexOf(column ?? meaning);
  if (column === undefined || found >= 0) return found;
  const meant = nearest(column, header);
  throw new Fault('invalid', `${name} has no column ${column}; it has ${header.join(', ')}.`, {
    remedy: meant ? `Did you mean ${meant}?` : 'Name one of them with --columns.',
  });
}

const lacking = (name: string, header: readonly string[], isStart: boolean): Fault =>
  new Fault(
    'invalid',
    `${name} has no column ${isStart ? 'submitted' : 'seconds or ended'}; it has ${header.join(', ')}.`,
    {
      remedy: 'Say which is which with --columns, like --columns submitted=creation_time,ended=deletion_time.',
    },
  );

interface Cell {
  readonly name: string;
  readonly line: number;
  readonly column: string;
}

// As seconds since 1970 that is the year 5138: such a number counts milliseconds.
const MOST_SECONDS = 1e11;

/** A number of seconds, or a date. */
function secondsOf(text: string, { name, line, column }: Cell): number {
  const number = Number(text);
  const seconds = Number.isNaN(number) ? (writtenTimeMs(text) ?? Number.NaN) / 1_000 : number;
  if (seconds >= 0 && seconds < MOST_SECONDS) return seconds;
  const why = seconds >= MOST_SECONDS ? 'too large for seconds; is it milliseconds?' : 'neither seconds nor a date';
  throw new Fault('invalid', `${name}: "${text.slice(0, 100)}" is ${why}`, {
    at: `line ${line}, ${column}`,
    remedy: 'Write seconds, or a date such as 2026-01-01T12:00:00Z.',
  });
}

const FIELD = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/y;

/** Rows of cells; a cell in quotes may hold commas, lines and doubled quotes. */
function parseCsv(text: string): string[][] {
  const whole = text.replace(/^\uFEFF/, '').trimEnd();
  const rows: string[][] = [];
  let row: string[] = [];
  FIELD.lastIndex = 0;
  for (let match = FIELD.exec(whole); match; match = FIELD.exec(whole)) {
    const [, quoted, bare = '', end] = match;
    row.push(quoted?.replaceAll('""', '"') ?? bare);
    if (end === ',') continue;
    rows.push(row);
    row = [];
    if (end === '') return rows;
  }
  throw new Fault('invalid', 'That is no CSV: a quote is not closed, or stands inside a cell.', {
    at: `line ${rows.length + 1}`,
  });
}

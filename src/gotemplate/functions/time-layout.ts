// Times in the layouts of Go, in which 01/02 03:04:05PM '06 -0700 stands for the parts of a time.
import { Fault } from '#core/fault.ts';

export interface Zone {
  /** As a layout prints it: UTC, or +0100 where the name is not known. */
  readonly name: string | undefined;
  readonly offsetSeconds: number;
}

/** A time in the zone that it is shown in. */
export interface ZonedTime {
  readonly atMs: number;
  readonly zone: Zone;
}

export const UTC: Zone = { name: 'UTC', offsetSeconds: 0 };

export const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
export const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

/** The parts of a layout, the longer ones first where one begins like another. */
const PART =
  /January|Jan|Monday|Mon|MST|2006|-07:00:00|-07:00|-070000|-0700|-07|Z07:00:00|Z07:00|Z070000|Z0700|Z07|002|__2|_2|01|02|03|04|05|06|15|PM|pm|[.,]0+(?![0-9])|[.,]9+(?![0-9])|[1-5]/g;

const two = (value: number): string => String(value).padStart(2, '0');

/** The date in its zone, as if that were UTC. */
export const localDate = ({ atMs, zone }: ZonedTime): Date => new Date(atMs + zone.offsetSeconds * 1_000);

export function dayOfYear(date: Date): number {
  return Math.floor((date.getTime() - Date.UTC(date.getUTCFullYear(), 0, 1)) / 86_400_000) + 1;
}

function offsetText(part: string, offsetSeconds: number): string {
  if (part.startsWith('Z') && offsetSeconds === 0) return 'Z';
  const total = Math.abs(offsetSeconds);
  const sign = offsetSeconds < 0 ? '-' : '+';
  const colon = part.includes(':') ? ':' : '';
  const hours = two(Math.floor(total / 3_600));
  const minutes = two(Math.floor(total / 60) % 60);
  const seconds = two(total % 60);
  const digits = part.replace(/[^0-9]/g, '').length;
  if (digits === 2) return sign + hours;
  return `${sign}${hours}${colon}${minutes}${digits === 6 ? colon + seconds : ''}`;
}

function fractionText(part: string, millis: number): string {
  const digits = String(millis)
    .padStart(3, '0')
    .padEnd(9, '0')
    .slice(0, part.length - 1);
  if (part[1] === '0') return `${part[0]}${digits}`;
  const trimmed = digits.replace(/0+$/, '');
  return trimmed === '' ? '' : `${part[0]}${trimmed}`;
}

const hour12 = (date: Date): number => date.getUTCHours() % 12 || 12;

type Writer = (date: Date, zone: Zone) => string;

const WRITERS: Readonly<Record<string, Writer>> = {
  January: (date) => MONTHS[date.getUTCMonth()] ?? '',
  Jan: (date) => (MONTHS[date.getUTCMonth()] ?? '').slice(0, 3),
  Monday: (date) => DAYS[date.getUTCDay()] ?? '',
  Mon: (date) => (DAYS[date.getUTCDay()] ?? '').slice(0, 3),
  2006: (date) => String(date.getUTCFullYear()).padStart(4, '0'),
  '06': (date) => two(date.getUTCFullYear() % 100),
  1: (date) => String(date.getUTCMonth() + 1),
  '01': (date) => two(date.getUTCMonth() + 1),
  2: (date) => String(date.getUTCDate()),
  _2: (date) => String(date.getUTCDate()).padStart(2, ' '),
  '02': (date) => two(date.getUTCDate()),
  __2: (date) => String(dayOfYear(date)).padStart(3, ' '),
  '002': (date) => String(dayOfYear(date)).padStart(3, '0'),
  15: (date) => two(date.getUTCHours()),
  3: (date) => String(hour12(date)),
  '03': (date) => two(hour12(date)),
  4: (date) => String(date.getUTCMinutes()),
  '04': (date) => two(date.getUTCMinutes()),
  5: (date) => String(date.getUTCSeconds()),
  '05': (date) => two(date.getUTCSeconds()),
  PM: (date) => (date.getUTCHours() >= 12 ? 'PM' : 'AM'),
  pm: (date) => (date.getUTCHours() >= 12 ? 'pm' : 'am'),
  MST: (_, { name }) => {
    if (name !== undefined) return name;
    throw new Fault('unsupported', 'The abbreviation of a time zone is not known here; write its offset with -0700.');
  },
};

/** A time as its layout shows it. */
export function formatTime(time: ZonedTime, layout: string): string {
  const date = localDate(time);
  return layout.replace(PART, (part) => {
    const write = WRITERS[part];
    if (write) return write(date, time.zone);
    if (/^[.,]/.test(part)) return fractionText(part, date.getUTCMilliseconds());
    return offsetText(part, time.zone.offsetSeconds);
  });
}

interface Read {
  year: number;
  month: number;
  day: number;
  dayOfYear: number | undefined;
  hour: number;
  minute: number;
  second: number;
  millis: number;
  isAfternoon: boolean | undefined;
  offsetSeconds: number;
}

type Reader = readonly [pattern: string, take: (into: Read, text: string) => void];

const monthOf = (text: string): number => MONTHS.findIndex((name) => name.startsWith(text)) + 1;
const nothing = (): void => {};

function readOffset(into: Read, text: string): void {
  if (text === 'Z') return;
  const [hours = '0', minutes = '0', seconds = '0'] = text.slice(1).replaceAll(':', '').match(/../g) ?? [];
  const total = Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds);
  into.offsetSeconds = text[0] === '-' ? -total : total;
}

const number = (pattern: string, take: (into: Read, value: number) => void): Reader => [
  pattern,
  (into, text) => take(into, Number(text)),
];

const set =
  (key: 'year' | 'month' | 'day' | 'dayOfYear' | 'hour' | 'minute' | 'second') => (into: Read, value: number) => {
    into[key] = value;
  };

const READERS: Readonly<Record<string, Reader>> = {
  January: [MONTHS.join('|'), (into, text) => set('month')(into, monthOf(text))],
  Jan: [MONTHS.map((name) => name.slice(0, 3)).join('|'), (into, text) => set('month')(into, monthOf(text))],
  Monday: [DAYS.join('|'), nothing],
  Mon: [DAYS.map((name) => name.slice(0, 3)).join('|'), nothing],
  MST: ['[A-Z]{3,4}', nothing],
  2006: number('\\d{4}', set('year')),
  '06': number('\\d{2}', (into, value) => set('year')(into, value >= 69 ? 1900 + value : 2000 + value)),
  1: number('\\d{1,2}', set('month')),
  '01': number('\\d{2}', set('month')),
  2: number('\\d{1,2}', set('day')),
  _2: number(' ?\\d{1,2}', set('day')),
  '02': number('\\d{2}', set('day')),
  __2: number(' {0,2}\\d{1,3}', set('dayOfYear')),
  '002': number('\\d{3}', set('dayOfYear')),
  15: number('\\d{1,2}', set('hour')),
  3: number('\\d{1,2}', set('hour')),
  '03': number('\\d{2}', set('hour')),
  4: number('\\d{1,2}', set('minute')),
  '04': number('\\d{2}', set('minute')),
  5: number('\\d{1,2}', set('second')),
  '05': number('\\d{2}', set('second')),
  PM: ['AM|PM', (into, text) => (into.isAfternoon = text === 'PM')],
  pm: ['am|pm', (into, text) => (into.isAfternoon = text === 'pm')],
};

function readerOf(part: string): Reader {
  const known = READERS[part];
  if (known) return known;
  if (/^[.,]/.test(part)) {
    return ['[.,]?\\d*', (into, text) => (into.millis = Math.floor(Number(`0.${text.slice(1) || 0}`) * 1_000))];
  }
  return [part.startsWith('Z') ? 'Z|[+-][\\d:]+' : '[+-][\\d:]+', readOffset];
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

function checked(read: Read): number | undefined {
  const { year, month, day, hour, minute, second, millis, isAfternoon, dayOfYear: yearDay } = read;
  const hours = isAfternoon === undefined ? hour : (hour % 12) + (isAfternoon ? 12 : 0);
  const atMs = Date.UTC(2000, month - 1, day, hours, minute, second, millis);
  const date = new Date(atMs);
  date.setUTCFullYear(year, yearDay === undefined ? month - 1 : 0, yearDay ?? day);
  const isReal = yearDay !== undefined || (date.getUTCMonth() === month - 1 && date.getUTCDate() === day);
  return isReal && hours < 24 && minute < 60 && second < 60 ? date.getTime() : undefined;
}

// Each layout becomes a pattern of its own, which is compiled.
const MOST_LAYOUT = 256;

/** The time that a text tells in that layout; undefined where it does not follow it. */
export function parseTime(layout: string, text: string): ZonedTime | undefined {
  if (layout.length > MOST_LAYOUT) {
    throw new Fault('unsupported', `A layout of more than ${MOST_LAYOUT} characters cannot be read here.`);
  }
  const takes: Reader[1][] = [];
  let pattern = '';
  let done = 0;
  for (const match of layout.matchAll(PART)) {
    const [source, take] = readerOf(match[0]);
    pattern += `${escaped(layout.slice(done, match.index))}(${source})`;
    takes.push(take);
    done = match.index + match[0].length;
  }
  const match = new RegExp(`^${pattern}${escaped(layout.slice(done))}$`).exec(text);
  if (!match) return undefined;
  const blank = { year: 0, month: 1, day: 1, hour: 0, minute: 0, second: 0, millis: 0, offsetSeconds: 0 };
  const read: Read = { ...blank, dayOfYear: undefined, isAfternoon: undefined };
  for (const [n, take] of takes.entries()) take(read, match[n + 1] ?? '');
  const localMs = checked(read);
  if (localMs === undefined) return undefined;
  const { offsetSeconds } = read;
  const zone = offsetSeconds === 0 ? UTC : { name: undefined, offsetSeconds };
  return { atMs: localMs - offsetSeconds * 1_000, zone };
}

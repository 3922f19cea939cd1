import { Fault } from '#core/fault.ts';
import { goQuoted } from '../fmt/quote.ts';
import type { RenderBudget } from '../limits.ts';
import { type GoMethod, type GoObject, Int, int64, type Value } from '../value/value.ts';
import { durationText, parseGoDuration } from './duration.ts';
import { type Functions, fn, type TemplateRun } from './function.ts';
import {
  DAYS,
  dayOfYear,
  formatTime,
  localDate,
  MONTHS,
  parseTime,
  UTC,
  type Zone,
  type ZonedTime,
} from './time-layout.ts';

const NANOS = 1_000_000;
const RFC_3339 = '2006-01-02T15:04:05.999999999Z07:00';
const number = (value: number): GoMethod => ({ takes: [], give: () => value });

const named = (type: 'time.Month' | 'time.Weekday', text: string, content: number): GoObject => ({
  type,
  kind: 'int',
  text,
  json: content,
  content,
  fields: { String: { takes: [], give: () => text } },
});

const timeOf = ({ content }: GoObject): ZonedTime => content as ZonedTime;

function timeObject(time: ZonedTime): GoObject {
  const date = localDate(time);
  const shown = { ...time, zone: { ...time.zone, name: time.zone.name ?? formatTime(time, '-0700') } };
  return {
    type: 'time.Time',
    kind: 'struct',
    text: formatTime(shown, '2006-01-02 15:04:05.999999999 -0700 MST'),
    json: formatTime(time, RFC_3339),
    content: time,
    fields: {
      Format: { takes: ['string'], give: (layout: string) => formatTime(time, layout) },
      String: { takes: [], give: () => formatTime(shown, '2006-01-02 15:04:05.999999999 -0700 MST') },
      UTC: { takes: [], give: () => timeObject({ ...time, zone: UTC }) },
      Unix: { takes: [], give: () => int64(BigInt(Math.floor(time.atMs / 1_000))) },
      UnixMilli: { takes: [], give: () => int64(BigInt(time.atMs)) },
      Year: number(date.getUTCFullYear()),
      Month: { takes: [], give: () => named('time.Month', MONTHS[date.getUTCMonth()] ?? '', date.getUTCMonth() + 1) },
      Weekday: { takes: [], give: () => named('time.Weekday', DAYS[date.getUTCDay()] ?? '', date.getUTCDay()) },
      Day: number(date.getUTCDate()),
      YearDay: number(dayOfYear(date)),
      Hour: number(date.getUTCHours()),
      Minute: number(date.getUTCMinutes()),
      Second: number(date.getUTCSeconds()),
    },
  };
}

function nowOf({ clock }: TemplateRun): number {
  if (!clock) throw new Fault('unsupported', 'This template may not ask for the time.');
  return clock.now();
}

const isTime = (value: Value): value is GoObject =>
  typeof value === 'object' && value !== null && 'type' in value && value.type === 'time.Time';

/** A time, or seconds since 1970; Sprig takes anything else as now. */
function dateOf(value: Value, run: TemplateRun): number {
  if (isTime(value)) return timeOf(value).atMs;
  if (typeof value === 'number') return value * 1_000;
  if (value instanceof Int) return Number(value.value) * 1_000;
  return nowOf(run);
}

// Reading or writing a date takes as long as so many actions, and so does looking a zone up.
const STEPS_OF_A_DATE = 8;
const STEPS_OF_A_ZONE = 60;

/** The zone at a moment. The zone of the machine is UTC here, so that equal templates give equal texts; so is an unknown one. */
function zoneAt(name: string, atMs: number, budget: RenderBudget): Zone {
  if (name === 'Local' || name === 'UTC' || name === '') return UTC;
  budget.step(STEPS_OF_A_ZONE);
  try {
    const format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' });
    const offset = format.formatToParts(atMs).find(({ type }) => type === 'timeZoneName')?.value ?? 'GMT';
    const [, sign = '+', hours = '0', minutes = '0'] = /^GMT([+-])(\d+):(\d+)/.exec(offset) ?? [];
    const seconds = Number(hours) * 3_600 + Number(minutes) * 60;
    return { name: undefined, offsetSeconds: sign === '-' ? -seconds : seconds };
  } catch {
    return UTC;
  }
}

function dateInZone(layout: string, date: Value, zone: string, run: TemplateRun): string {
  run.budget.step(STEPS_OF_A_DATE);
  const atMs = dateOf(date, run);
  return formatTime({ atMs, zone: zoneAt(zone, atMs, run.budget) }, layout);
}

// The time that Go has where it has none: the first day of the year 1.
const ZERO: ZonedTime = { atMs: -62_135_596_800_000, zone: UTC };

function cannotParse(layout: string, text: string): Fault {
  return new Fault('invalid', `parsing time ${goQuoted(text)} as ${goQuoted(layout)}: cannot parse ${goQuoted(text)}`);
}

const modified = (span: string, date: GoObject, { budget }: TemplateRun): GoObject => {
  budget.step(STEPS_OF_A_DATE);
  const time = timeOf(date);
  return timeObject({ ...time, atMs: time.atMs + Number(parseGoDuration(span) / BigInt(NANOS)) });
};

function modifiedOrSame(span: string, date: GoObject, run: TemplateRun): GoObject {
  try {
    return modified(span, date, run);
  } catch (thrown) {
    if (thrown instanceof Fault && thrown.kind === 'invalid') return date;
    throw thrown;
  }
}

const UNITS: readonly (readonly [bigint, string])[] = [
  [365n * 24n * 3_600n, 'y'],
  [30n * 24n * 3_600n, 'mo'],
  [24n * 3_600n, 'd'],
  [3_600n, 'h'],
  [60n, 'm'],
  [1n, 's'],
];

function roundedSpan(nanos: bigint): string {
  const size = nanos < 0n ? -nanos : nanos;
  const [unit, name] = UNITS.find(([seconds]) => size > seconds * 1_000_000_000n) ?? [1n, ''];
  return name === '' ? '0s' : `${size / (unit * 1_000_000_000n)}${name}`;
}

function spanOf(value: Value, run: TemplateRun): bigint {
  if (typeof value === 'string') {
    try {
      return parseGoDuration(value);
    } catch {
      return 0n;
    }
  }
  if (value instanceof Int && value.type === 'int64') return value.value;
  return isTime(value) ? BigInt(nowOf(run) - timeOf(value).atMs) * BigInt(NANOS) : 0n;
}

function secondsOf(value: Value): bigint {
  if (typeof value === 'string') return /^[+-]?\d+$/.test(value) ? BigInt(value) : 0n;
  return value instanceof Int && value.type === 'int64' ? value.value : 0n;
}

const inZone = fn(['string', 'any', 'string'], dateInZone);
const modify = fn(['string', 'time'], modifiedOrSame);
const mustModify = fn(['string', 'time'], modified);
const HTML_DATE = '2006-01-02';

/** Sprig's functions for dates that need no clock of their own. */
export const dateFunctions: Functions = {
  date: fn(['string', 'any'], (layout, date, run) => dateInZone(layout, date, 'Local', run)),
  date_in_zone: inZone,
  dateInZone: inZone,
  date_modify: modify,
  dateModify: modify,
  must_date_modify: mustModify,
  mustDateModify: mustModify,
  htmlDate: fn(['any'], (date, run) => dateInZone(HTML_DATE, date, 'Local', run)),
  htmlDateInZone: fn(['any', 'string'], (date, zone, run) => dateInZone(HTML_DATE, date, zone, run)),
  toDate: fn(['string', 'string'], (layout, text, { budget }) => {
    budget.step(STEPS_OF_A_DATE);
    return timeObject(parseTime(layout, text) ?? ZERO);
  }),
  mustToDate: fn(['string', 'string'], (layout, text, { budget }) => {
    budget.step(STEPS_OF_A_DATE);
    const time = parseTime(layout, text);
    if (!time) throw cannotParse(layout, text);
    return timeObject(time);
  }),
  unixEpoch: fn(['time'], (date) => String(Math.floor(timeOf(date).atMs / 1_000))),
  duration: fn(['any'], (value) => durationText(secondsOf(value) * 1_000_000_000n)),
  durationRound: fn(['any'], (value, run) => roundedSpan(spanOf(value, run))),
};

/** Those that are there only where the caller hands in a clock. */
export const clockFunctions: Functions = {
  now: fn([], (run) => {
    run.budget.step(STEPS_OF_A_DATE);
    return timeObject({ atMs: nowOf(run), zone: UTC });
  }),
  ago: fn(['any'], (date, run) => {
    const seconds = Math.round((nowOf(run) - dateOf(date, run)) / 1_000);
    return durationText(BigInt(seconds) * 1_000_000_000n);
  }),
};

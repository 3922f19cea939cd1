// The limits of a pool by the time of day. Whether a window is open is read off the clock of its zone, so hours that a
// change of the clocks skips or repeats need no rule.
import { DAY_MS, MINUTE_MS } from './clock.ts';
import type { PoolSpec, Scaling } from './pool.ts';

/** A window of local time, and the limits that hold in it; a limit that is absent stays as the pool has it. */
export interface Schedule {
  readonly name?: string | undefined;
  /** `mon-fri,sun`: the days on which it begins. Absent: every day. */
  readonly days?: string | undefined;
  /** `08:00`; where `to` is not later, the window ends on the next day. */
  readonly from: string;
  readonly to: string;
  readonly timezone: string;
  readonly minAgents?: number | undefined;
  readonly maxAgents?: number | undefined;
  /** In slots, as users of `min_idle_agents` know them. */
  readonly minIdleAgents?: number | undefined;
  readonly maxIdleAgents?: number | undefined;
}

export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type LimitName = 'minAgents' | 'maxAgents' | 'minIdleSlots' | 'maxIdleSlots';

/** What sets a limit that is not that of the definition: `schedule mon-fri 08:00-18:00 Europe/Berlin`. */
export type SetBy = Readonly<Partial<Record<LimitName, string>>>;

export interface ScalingNow {
  readonly scaling: Scaling;
  /** Absent where no window changes a limit. */
  readonly setBy?: SetBy | undefined;
}

const DAY_MINUTES = 1_440;
const WEEK_MINUTES = 7 * DAY_MINUTES;
const TIME = /^([01]\d|2[0-3]):([0-5]\d)$/;

/** The minute of the day of `08:30`; undefined for what is no time. Only an end may be `24:00`. */
export function minuteOf(time: string): number | undefined {
  if (time === '24:00') return DAY_MINUTES;
  const [, hours, minutes] = TIME.exec(time) ?? [];
  return hours === undefined ? undefined : Number(hours) * 60 + Number(minutes);
}

/** Whether each day from Monday on is one of `mon-fri,sun`; a range may go over Sunday. */
export function daysOf(text: string | undefined): readonly boolean[] {
  const days = WEEKDAYS.map(() => text === undefined);
  for (const part of text?.split(',') ?? []) {
    const [first = '', last = first] = part.split('-');
    const to = placeOf(last);
    for (let day = placeOf(first); ; day = (day + 1) % WEEKDAYS.length) {
      days[day] = true;
      if (day === to) break;
    }
  }
  return days;
}

const placeOf = (day: string): number => WEEKDAYS.indexOf(day as (typeof WEEKDAYS)[number]);

interface Window {
  readonly schedule: Schedule;
  readonly days: readonly boolean[];
  readonly from: number;
  readonly to: number;
  readonly minuteOfWeek: (atMs: number) => number;
}

const zones = new Map<string, Window['minuteOfWeek']>();

/** Minutes since Monday 00:00 on the clock of that zone. */
function clockOf(timeZone: string): Window['minuteOfWeek'] {
  let clock = zones.get(timeZone);
  if (!clock) {
    const parts = { weekday: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
    const format = new Intl.DateTimeFormat('en-US', { ...parts, timeZone });
    clock = (atMs) => {
      const read = Object.fromEntries(format.formatToParts(atMs).map(({ type, value }) => [type, value]));
      const day = placeOf(read.weekday?.toLowerCase() ?? '');
      return day * DAY_MINUTES + Number(read.hour) * 60 + Number(read.minute);
    };
    zones.set(timeZone, clock);
  }
  return clock;
}

const windows = new WeakMap<readonly Schedule[], readonly Window[]>();

function windowsOf(schedules: readonly Schedule[]): readonly Window[] {
  let known = windows.get(schedules);
  if (!known) {
    known = schedules.map((schedule) => ({
      schedule,
      days: daysOf(schedule.days),
      from: minuteOf(schedule.from) ?? 0,
      to: minuteOf(schedule.to) ?? 0,
      minuteOfWeek: clockOf(schedule.timezone),
    }));
    windows.set(schedules, known);
  }
  return known;
}

/** Whether a window is open. */
export function isInside(schedule: Schedule, atMs: number): boolean {
  const [window] = windowsOf([schedule]);
  return window !== undefined && isOpen(window, atMs);
}

function isOpen({ days, from, to, minuteOfWeek }: Window, atMs: number): boolean {
  const at = minuteOfWeek(atMs);
  const today = Math.floor(at / DAY_MINUTES);
  const minute = at % DAY_MINUTES;
  if (from < to) return days[today] === true && minute >= from && minute < to;
  const yesterday = (today + WEEKDAYS.length - 1) % WEEKDAYS.length;
  return (days[today] === true && minute >= from) || (days[yesterday] === true && minute < to);
}

// Each step goes to a time at which the window may begin or end, or to one at which the clock is changed: a week has at
// most fifteen of them.
const MOST_STEPS = 16;

/** When the window opens or closes next; undefined where it is always open. */
function edgeOf(window: Window, atMs: number): number | undefined {
  const isOpenNow = isOpen(window, atMs);
  let at = Math.floor(atMs / MINUTE_MS) * MINUTE_MS;
  for (let step = 0; step < MOST_STEPS; step += 1) {
    at = nextBoundary(window, at);
    if (isOpen(window, at) !== isOpenNow) return at;
  }
  return undefined;
}

/** The next time at which its clock shows `from` or `to` of one of its days, or is changed. */
function nextBoundary({ days, from, to, minuteOfWeek }: Window, atMs: number): number {
  const now = minuteOfWeek(atMs);
  const end = from < to ? to : to + DAY_MINUTES;
  let wait = WEEK_MINUTES;
  for (const [day, isMeant] of days.entries()) {
    if (!isMeant) continue;
    for (const minute of [from, end]) {
      const left = (day * DAY_MINUTES + minute - now + 2 * WEEK_MINUTES) % WEEK_MINUTES;
      if (left > 0 && left < wait) wait = left;
    }
  }
  const isUnchanged = (minutes: number): boolean =>
    minuteOfWeek(atMs + minutes * MINUTE_MS) === (now + minutes) % WEEK_MINUTES;
  if (isUnchanged(wait)) return atMs + wait * MINUTE_MS;
  let [before, after] = [0, wait];
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (isUnchanged(middle)) before = middle;
    else after = middle;
  }
  return atMs + after * MINUTE_MS;
}

type StatedKey = 'minAgents' | 'maxAgents' | 'minIdleAgents' | 'maxIdleAgents';

const STATED: readonly (readonly [LimitName, StatedKey])[] = [
  ['minAgents', 'minAgents'],
  ['maxAgents', 'maxAgents'],
  ['minIdleSlots', 'minIdleAgents'],
  ['maxIdleSlots', 'maxIdleAgents'],
];

/** What people call a window. */
export const scheduleName = ({ name, days, from, to, timezone }: Schedule): string =>
  name ?? `${days === undefined ? '' : `${days} `}${from}-${to} ${timezone}`;

type Scheduled = Pick<PoolSpec, 'scaling' | 'schedules'>;

interface Known extends ScalingNow {
  readonly schedules: readonly Schedule[];
  readonly leadMs: number;
  readonly fromMs: number;
  readonly untilMs: number;
}

// A pool asks at every pass, and the answer changes a few times a day. The same answer is the same object.
const known = new WeakMap<Scaling, Known>();

/**
 * The limits that hold at a moment: of windows that are open together the largest value of each. A window that opens
 * within `leadMs` already keeps its minimum and its idle slots, so that its workers are ready when it opens.
 */
export function scalingAt({ scaling, schedules = [] }: Scheduled, atMs: number, leadMs = 0): ScalingNow {
  if (schedules.length === 0) return { scaling };
  const before = known.get(scaling);
  const holds = before && before.fromMs <= atMs && atMs < before.untilMs;
  if (holds && before.schedules === schedules && before.leadMs === leadMs) return before;
  const untilMs = nextEdge({ scaling, schedules }, atMs, leadMs);
  const now = {
    ...limitsAt(scaling, windowsOf(schedules), { atMs, leadMs }),
    schedules,
    leadMs,
    fromMs: atMs,
    untilMs,
  };
  known.set(scaling, now);
  return now;
}

/** When the limits may change next. */
export function nextEdge({ schedules = [] }: Scheduled, atMs: number, leadMs = 0): number {
  let next = Number.POSITIVE_INFINITY;
  for (const window of windowsOf(schedules)) {
    // One that is always open may have another clock some day.
    const edge = edgeOf(window, atMs) ?? atMs + DAY_MS;
    const early = edge - leadMs;
    next = Math.min(next, !isOpen(window, atMs) && early > atMs ? early : edge);
  }
  return next;
}

/** The limits in a window alone; the very same where it changes none. */
export function limitsIn(scaling: Scaling, schedule: Schedule): Scaling {
  const stated = STATED.flatMap(([limit, key]) => {
    const value = schedule[key];
    return value === undefined || value === scaling[limit] ? [] : [[limit, value] as const];
  });
  return stated.length === 0 ? scaling : withLimits(scaling, Object.fromEntries(stated));
}

interface Moment {
  readonly atMs: number;
  readonly leadMs: number;
}

function limitsAt(scaling: Scaling, all: readonly Window[], { atMs, leadMs }: Moment): ScalingNow {
  const limits: Partial<Record<LimitName, number>> = {};
  const setBy: Partial<Record<LimitName, string>> = {};
  const raise = ({ schedule }: Window, limit: LimitName, value: number | undefined, than?: number): void => {
    if (value === undefined || value <= (limits[limit] ?? than ?? Number.NEGATIVE_INFINITY)) return;
    limits[limit] = value;
    setBy[limit] = `schedule ${scheduleName(schedule)}`;
  };
  const open = all.filter((window) => isOpen(window, atMs));
  for (const window of open) for (const [limit, key] of STATED) raise(window, limit, window.schedule[key]);
  const asks = ({ minAgents = 0, minIdleAgents = 0 }: Schedule): boolean =>
    minAgents > (limits.minAgents ?? scaling.minAgents) ||
    minIdleAgents > (limits.minIdleSlots ?? scaling.minIdleSlots);
  const opensSoon = (window: Window): boolean =>
    leadMs > 0 && !open.includes(window) && (edgeOf(window, atMs) ?? Number.POSITIVE_INFINITY) - atMs <= leadMs;
  for (const window of all.filter((each) => asks(each.schedule) && opensSoon(each)))
    for (const [limit, key] of STATED) raise(window, limit, ahead(scaling, window.schedule, key), scaling[limit]);
  for (const [limit] of STATED) if (limits[limit] === scaling[limit]) delete setBy[limit];
  return Object.keys(limits).length === 0 ? { scaling } : { scaling: withLimits(scaling, limits), setBy };
}

/** What is prepared of a limit: no more workers than the window itself allows. */
function ahead({ slotsPerAgent }: Scaling, schedule: Schedule, key: StatedKey): number | undefined {
  const { maxAgents = Number.POSITIVE_INFINITY } = schedule;
  const value = schedule[key];
  if (value === undefined || key === 'maxAgents') return value;
  return Math.min(value, key === 'minAgents' ? maxAgents : maxAgents * slotsPerAgent);
}

/** Of two windows one may allow fewer workers than the other asks for: `max_agents` holds. */
export function withLimits(scaling: Scaling, limits: Partial<Record<LimitName, number>>): Scaling {
  const now = { ...scaling, ...limits };
  return {
    ...now,
    minAgents: Math.min(now.minAgents, now.maxAgents),
    maxIdleSlots: Math.max(now.maxIdleSlots, now.minIdleSlots + now.slotsPerAgent - 1),
  };
}

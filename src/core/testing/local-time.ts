// What a window means, said in another way than the product does: dates and times that a person reads off a clock.
import { DAY_MS, MINUTE_MS } from '../clock.ts';
import { nextEdge, type Schedule, scalingAt, WEEKDAYS } from '../schedule.ts';
import { someScaling } from './pool.ts';

/** Reads the local time of a zone as if it were UTC. */
export function localClock(timeZone: string): (atMs: number) => number {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  return (atMs) => Date.parse(`${format.format(atMs).replace(' ', 'T')}Z`);
}

const minutesOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));

/** Whether that local time is within the window that begins on one of its days. */
export function isWithin({ days = WEEKDAYS.join(','), from, to }: Schedule, localMs: number): boolean {
  const [first, last] = [minutesOf(from) * MINUTE_MS, minutesOf(to) * MINUTE_MS];
  return [0, 1].some((daysAgo) => {
    const dayMs = Math.floor(localMs / DAY_MS) * DAY_MS - daysAgo * DAY_MS;
    const weekday = WEEKDAYS[(new Date(dayMs).getUTCDay() + 6) % 7] as string;
    const endMs = dayMs + last + (last > first ? 0 : DAY_MS);
    return days.split(',').some((part) => inRange(weekday, part)) && localMs >= dayMs + first && localMs < endMs;
  });
}

function inRange(weekday: string, part: string): boolean {
  const [first = '', last = first] = part.split('-');
  const week = [...WEEKDAYS, ...WEEKDAYS] as readonly string[];
  const start = week.indexOf(first);
  return week.slice(start, week.indexOf(last, start) + 1).includes(weekday);
}

/** Goes from edge to edge of a window, and names each minute at which it is not what its local time says. */
export function differencesOnTheWay(schedule: Schedule, fromMs: number, untilMs: number): string[] {
  const read = localClock(schedule.timezone);
  const spec = { scaling: someScaling(), schedules: [{ ...schedule, maxAgents: 99 }] };
  const found: string[] = [];
  let edgeMs = fromMs;
  let isOpen = false;
  for (let atMs = fromMs; atMs < untilMs; atMs += MINUTE_MS) {
    if (atMs >= edgeMs) {
      isOpen = scalingAt(spec, atMs).scaling.maxAgents === 99;
      edgeMs = nextEdge(spec, atMs);
    }
    if (isOpen === isWithin(schedule, read(atMs))) continue;
    found.push(`${new Date(atMs).toISOString()} ${schedule.timezone} ${schedule.days} ${schedule.from}-${schedule.to}`);
    if (found.length > 10) break;
  }
  return found;
}

// Demands on which policies are compared: two weeks each, from a Monday on.
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#core/clock.ts';
import type { Arrival } from '#core/forecast.ts';
import { type Random, seededRandom } from '#core/random.ts';

export interface NamedDemand {
  readonly name: string;
  readonly fromMs: number;
  readonly untilMs: number;
  readonly arrivals: readonly Arrival[];
}

const FROM_MS = Date.UTC(2026, 10, 2);
const DAYS = 14;
const MEAN_MS = 6 * MINUTE_MS;

const exponential = (random: Random, mean: number): number => -Math.log(1 - random.next()) * mean;

/** Sessions at random times with a rate that follows the hour; half a minute to many of them long. */
function atRates(name: string, perHour: (day: number, hour: number) => number): NamedDemand {
  const random = seededRandom(7);
  const arrivals: Arrival[] = [];
  for (let hour = 0; hour < DAYS * 24; hour += 1) {
    const mean = HOUR_MS / perHour(Math.floor(hour / 24) % 7, hour % 24);
    for (let inHourMs = exponential(random, mean); inHourMs < HOUR_MS; inHourMs += exponential(random, mean)) {
      const lastsMs = Math.round(MINUTE_MS / 2 + exponential(random, MEAN_MS));
      arrivals.push({ atMs: Math.round(FROM_MS + hour * HOUR_MS + inHourMs), lastsMs });
    }
  }
  return { name, fromMs: FROM_MS, untilMs: FROM_MS + DAYS * DAY_MS, arrivals };
}

const isOffice = (day: number, hour: number): boolean => day < 5 && hour >= 8 && hour < 18;

export const officeHours = (): NamedDemand => atRates('office hours', (day, hour) => (isOffice(day, hour) ? 60 : 2));

export const flat = (): NamedDemand => atRates('flat', () => 30);

/** Two hundred at 02:00 beside a few all day. */
export function nightlyBatch(): NamedDemand {
  const few = atRates('nightly batch', () => 2);
  const random = seededRandom(8);
  const batches = Array.from({ length: DAYS * 200 }, (_, at) => {
    const atMs = FROM_MS + Math.floor(at / 200) * DAY_MS + 2 * HOUR_MS + Math.round(exponential(random, MINUTE_MS));
    return { atMs, lastsMs: Math.round(MINUTE_MS / 2 + exponential(random, 2 * MEAN_MS)) };
  });
  return { ...few, arrivals: [...few.arrivals, ...batches].toSorted((a, b) => a.atMs - b.atMs) };
}

import { describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import type { Arrival } from '#core/forecast.ts';
import { seededRandom } from '#core/random.ts';
import {
  cheapestStatic,
  chosenOver,
  evenDemand,
  hourOfDay,
  isWeekday,
  runWith,
  START_MS,
  someDemand,
  turnsOf,
} from '../../src/foresight/testing/targeted-pool.ts';

const stretchOf = (days: number) => ({ fromMs: START_MS, untilMs: START_MS + days * DAY_MS });
const isOffice = (ms: number): boolean => isWeekday(ms) && hourOfDay(ms) >= 8 && hourOfDay(ms) < 18;

/** Thirty long sessions each night, within so long. */
function nightly(withinMs: number, untilMs: number): readonly Arrival[] {
  const random = seededRandom(11);
  const demand: Arrival[] = [];
  for (let dayMs = START_MS - 28 * DAY_MS; dayMs < untilMs; dayMs += DAY_MS)
    for (let nth = 0; nth < 30; nth += 1) {
      const atMs = Math.round(dayMs + 2 * HOUR_MS + random.next() * withinMs);
      demand.push({ atMs, lastsMs: Math.round((20 + 20 * random.next()) * MINUTE_MS) });
    }
  return demand.toSorted((a, b) => a.atMs - b.atMs);
}

/** Another load in each hour, from a quarter of the usual to four times it. */
function noisy(untilMs: number): readonly Arrival[] {
  const random = seededRandom(11);
  const aroundZero = (): number => random.next() + random.next() + random.next() + random.next() - 2;
  return someDemand(() => 60 * Math.exp(0.7 * aroundZero()), { seed: 11, untilMs });
}

describe('a wait target', () => {
  it.each([
    ['a flat load', 2, (untilMs: number) => someDemand(() => 60, { seed: 11, untilMs }), 1.1],
    ['a load that differs from hour to hour', 2, noisy, 1.1],
    ['office hours', 7, (untilMs: number) => someDemand((ms) => (isOffice(ms) ? 60 : 0), { seed: 11, untilMs }), 1],
    ['a nightly batch', 7, (untilMs: number) => nightly(30 * SECOND_MS, untilMs), 1],
    ['a nightly batch over ten minutes', 14, (untilMs: number) => nightly(10 * MINUTE_MS, untilMs), 1],
  ] as const)(
    'is met in 95 of 100 hours of %s, and costs about what the cheapest fixed number does, or less',
    async (_what, days, demandUntil, most) => {
      const stretch = stretchOf(days);
      const demand = demandUntil(stretch.untilMs);
      const { metShare, dollars } = runWith(await chosenOver(demand, stretch), demand, stretch);

      expect(metShare).toBeGreaterThanOrEqual(0.95);
      expect(dollars / cheapestStatic(demand, stretch).dollars).toBeLessThan(most);
    },
  );

  it('keeps one number through a day of constant load', async () => {
    const stretch = stretchOf(1);
    const chosen = await chosenOver(evenDemand(MINUTE_MS, stretch.untilMs), stretch);

    expect(turnsOf(chosen)).toBeLessThanOrEqual(1);
  });

  it.each([
    ['random', (untilMs: number) => someDemand(() => 60, { seed: 4, untilMs })],
    ['noisy', noisy],
  ] as const)('turns less than once an hour in a day of %s load', async (_what, demandUntil) => {
    const stretch = stretchOf(1);
    const chosen = await chosenOver(demandUntil(stretch.untilMs), stretch);

    expect(turnsOf(chosen)).toBeLessThan(24);
  });
});

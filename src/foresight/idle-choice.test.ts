import { describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#core/clock.ts';
import { type AskedIdle, nextIdle, stillRemembered, stretchesAround } from './idle-choice.ts';
import {
  cheapestStatic,
  chosenOver,
  evenDemand,
  hourOfDay,
  isWeekday,
  runWith,
  START_MS,
  someDemand,
  TARGET,
  turnsOf,
} from './testing/targeted-pool.ts';

const NOW_MS = 100 * DAY_MS;
const asked = (...idle: readonly number[]): AskedIdle[] =>
  idle.map((idleSlots, at) => ({ idleSlots, atMs: NOW_MS - (idle.length - 1 - at) * 5 * MINUTE_MS }));
/** With what the last hour asked for, all of it the same but the newest. */
const hourOf = (usual: number, newest: number): AskedIdle[] => asked(...Array<number>(12).fill(usual), newest);
const next = (before: { idleSlots: number; at: number } | undefined, all: readonly AskedIdle[], slotsPerAgent = 1) =>
  nextIdle(before, all, { nowMs: NOW_MS, slotsPerAgent });
const long = (idleSlots: number) => ({ idleSlots, at: NOW_MS - DAY_MS });

it('a choice rests on the hour that is over, and on the hour to come as it was in four weeks', () => {
  expect(stretchesAround(NOW_MS)).toEqual([
    { fromMs: NOW_MS - HOUR_MS, untilMs: NOW_MS },
    ...[7, 14, 21, 28].map((days) => {
      return { fromMs: NOW_MS - days * DAY_MS, untilMs: NOW_MS - days * DAY_MS + HOUR_MS };
    }),
  ]);
});

describe('the idle slots of a wait target', () => {
  it('rise at once, by as much as is asked for', () => {
    expect(next(undefined, asked(3))).toBe(3);
    expect(next({ idleSlots: 2, at: NOW_MS - 1 }, asked(2, 9))).toBe(9);
  });

  it('go down by one worker in ten minutes', () => {
    expect(next(long(9), hourOf(3, 3))).toBe(8);
    expect(next(long(9), hourOf(3, 3), 4)).toBe(5);
    expect(next({ idleSlots: 9, at: NOW_MS - 9 * MINUTE_MS }, hourOf(3, 3))).toBe(9);
    expect(next({ idleSlots: 9, at: NOW_MS - 10 * MINUTE_MS }, hourOf(3, 3))).toBe(8);
  });

  it('stay while any choice of the last hour asked for them', () => {
    expect(next(long(9), [...asked(3, 9, ...Array<number>(11).fill(3))])).toBe(9);
    expect(next(long(4), hourOf(3, 2), 4)).toBe(3);
    expect(stillRemembered(asked(...Array<number>(20).fill(1)), NOW_MS)).toHaveLength(13);
  });

  it('stay after a start of the server until it has seen an hour', () => {
    expect(next(long(9), asked(3, 3, 3))).toBe(9);
  });
});

describe('a pool with a wait target', () => {
  it('on a morning of an office meets it, for less than the cheapest number of idle slots that never changes', async () => {
    const untilMs = START_MS + 13 * HOUR_MS;
    const isOpen = (ms: number): boolean => isWeekday(ms) && hourOfDay(ms) >= 9 && hourOfDay(ms) < 18;
    const demand = someDemand((ms) => (isOpen(ms) ? 20 : 0), { seed: 3, untilMs });
    const day = { fromMs: START_MS, untilMs };
    const run = runWith(await chosenOver(demand, day), demand, day);

    expect(run.metShare).toBeGreaterThanOrEqual(0.95);
    expect(run.dollars).toBeLessThan(cheapestStatic(demand, day).dollars);
  });

  it('under constant load keeps what it has chosen once', async () => {
    const stretch = { fromMs: START_MS, untilMs: START_MS + 8 * HOUR_MS };
    const chosen = await chosenOver(evenDemand(6 * MINUTE_MS, stretch.untilMs), stretch);

    expect(chosen[0]?.idleSlots).toBeGreaterThan(0);
    expect(new Set(chosen.map(({ idleSlots }) => idleSlots)).size).toBe(1);
    expect(turnsOf(chosen)).toBe(0);
  });

  it('never keeps more than its max_idle_agents', async () => {
    const stretch = { fromMs: START_MS, untilMs: START_MS + HOUR_MS / 2 };
    const demand = someDemand(() => 60, { seed: 3, untilMs: stretch.untilMs });
    const chosen = await chosenOver(demand, stretch, { ...TARGET, maxIdleSlots: 2 });

    expect(new Set(chosen.map(({ idleSlots }) => idleSlots))).toEqual(new Set([2]));
  });
});

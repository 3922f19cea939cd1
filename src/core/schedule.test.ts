import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS } from './clock.ts';
import type { PoolSpec } from './pool.ts';
import { daysOf, isInside, nextEdge, type Schedule, scalingAt, WEEKDAYS } from './schedule.ts';
import { differencesOnTheWay, isWithin, localClock } from './testing/local-time.ts';
import { someScaling } from './testing/pool.ts';

const ZONES = Intl.supportedValuesOf('timeZone');
const at = (text: string): number => Date.parse(text);
const office: Schedule = { days: 'mon-fri', from: '08:00', to: '18:00', timezone: 'Europe/Berlin', minIdleAgents: 10 };
const spec = (schedules: readonly Schedule[], scaling = someScaling()): Pick<PoolSpec, 'scaling' | 'schedules'> => ({
  scaling,
  schedules,
});

const time = (most: number) =>
  fc.integer({ min: 0, max: most }).map((minute) => {
    const [hours, minutes] = [Math.floor(minute / 60), minute % 60];
    return `${String(hours).padStart(2, '0')}:${String(minutes).padStart(2, '0')}`;
  });
const days = fc.oneof(
  fc.constant(undefined),
  fc.subarray([...WEEKDAYS], { minLength: 1 }).map((some) => some.join(',')),
  fc.tuple(fc.constantFrom(...WEEKDAYS), fc.constantFrom(...WEEKDAYS)).map(([first, last]) => `${first}-${last}`),
);
const aWindow = fc
  .record({ days, from: time(1_439), to: time(1_440), timezone: fc.constantFrom(...ZONES) })
  .filter(({ from, to }) => from !== to);

describe('a window', () => {
  it('is open exactly while the clock of its zone is within it, in every zone and at every minute of a year', () => {
    fc.assert(
      fc.property(aWindow, fc.integer({ min: 0, max: 366 * 1_440 }), (window, minute) => {
        const atMs = at('2026-01-01T00:00:00Z') + minute * MINUTE_MS;

        expect(isInside(window, atMs)).toBe(isWithin(window, localClock(window.timezone)(atMs)));
      }),
      { numRuns: 2_000 },
    );
  });

  it('opens and closes at its edges and at no other minute', () => {
    fc.assert(
      fc.property(aWindow, fc.integer({ min: 0, max: 363 }), (window, day) => {
        const fromMs = at('2026-01-01T00:00:00Z') + day * DAY_MS;

        expect(differencesOnTheWay(window, fromMs, fromMs + 2 * DAY_MS)).toEqual([]);
      }),
      { numRuns: 25 },
    );
  });

  it.each([
    ['the night that skips an hour', 'Europe/Berlin', '2026-03-28T12:00:00Z'],
    ['the night that repeats an hour', 'Europe/Berlin', '2026-10-24T12:00:00Z'],
    ['half an hour of summer time', 'Australia/Lord_Howe', '2026-04-04T00:00:00Z'],
    ['a year that begins summer time at midnight', 'America/Sao_Paulo', '2018-11-03T00:00:00Z'],
    ['a zone that moved', 'Asia/Almaty', '2024-02-29T00:00:00Z'],
    ['a zone that skipped a day', 'Pacific/Apia', '2011-12-29T00:00:00Z'],
  ])('follows the local clock in %s', (_what, timezone, from) => {
    const windows: Schedule[] = [
      { from: '02:30', to: '03:15', timezone },
      { from: '00:00', to: '24:00', days: 'sun,fri', timezone },
      { from: '22:00', to: '02:15', days: 'sat-sun', timezone },
      { from: '01:45', to: '00:30', timezone },
    ];

    for (const window of windows) expect(differencesOnTheWay(window, at(from), at(from) + 3 * DAY_MS)).toEqual([]);
  });

  it('goes over midnight and over Sunday, from the day on which it begins', () => {
    const night: Schedule = { days: 'sun', from: '22:00', to: '06:00', timezone: 'UTC' };

    expect(isInside(night, at('2026-11-15T22:00:00Z'))).toBe(true);
    expect(isInside(night, at('2026-11-16T05:59:00Z'))).toBe(true);
    expect(isInside(night, at('2026-11-16T06:00:00Z'))).toBe(false);
    expect(isInside(night, at('2026-11-16T22:00:00Z'))).toBe(false);
    expect(daysOf('sat-mon')).toEqual([true, false, false, false, false, true, true]);
  });

  it('has edges far away too, and none that changes nothing', () => {
    const always: Schedule = { from: '00:00', to: '24:00', timezone: 'UTC', maxAgents: 7 };

    expect(nextEdge(spec([{ ...office, days: 'thu' }]), at('2026-11-13T00:00:00Z'))).toBe(at('2026-11-19T07:00:00Z'));
    expect(nextEdge(spec([always]), at('2026-11-13T00:00:00Z'))).toBe(at('2026-11-14T00:00:00Z'));
    expect(nextEdge(spec([]), 0)).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('the limits of a pool with schedules', () => {
  const monday = '2026-11-16T09:00:00Z';

  it('are its own outside of every window', () => {
    const pool = spec([office]);

    expect(scalingAt(pool, at('2026-11-15T09:00:00Z')).scaling).toEqual(pool.scaling);
  });

  it('are those of the window inside, with what sets them', () => {
    const pool = spec([{ ...office, maxAgents: 60 }], someScaling({ maxAgents: 5, maxIdleSlots: 1 }));

    expect(scalingAt(pool, at(monday))).toMatchObject({
      scaling: { minIdleSlots: 10, maxIdleSlots: 10, maxAgents: 60, minAgents: 0 },
      setBy: {
        minIdleSlots: 'schedule mon-fri 08:00-18:00 Europe/Berlin',
        maxAgents: 'schedule mon-fri 08:00-18:00 Europe/Berlin',
      },
    });
  });

  it('are the largest of each where windows overlap, and may be below those of the pool', () => {
    const lunch: Schedule = { name: 'lunch', from: '09:00', to: '13:00', timezone: 'UTC', maxAgents: 3, minAgents: 2 };
    const pool = spec([{ ...office, maxAgents: 2 }, lunch], someScaling({ maxAgents: 8 }));

    const { scaling, setBy } = scalingAt(pool, at(monday));

    expect(scaling).toMatchObject({ maxAgents: 3, minAgents: 2, minIdleSlots: 10 });
    expect(setBy?.maxAgents).toBe('schedule lunch');
  });

  it('never ask for more workers than they allow', () => {
    const few: Schedule = { from: '09:00', to: '13:00', timezone: 'UTC', maxAgents: 1 };
    const many: Schedule = { from: '08:00', to: '18:00', timezone: 'UTC', minAgents: 4 };

    expect(scalingAt(spec([few, many]), at(monday)).scaling).toMatchObject({ minAgents: 1, maxAgents: 1 });
  });

  it('are prepared before a window that asks for workers, and not before one that takes some away', () => {
    const night: Schedule = { from: '18:00', to: '08:00', timezone: 'Europe/Berlin', maxAgents: 2 };
    const pool = spec([{ ...office, maxAgents: 60 }, night], someScaling({ maxAgents: 5 }));
    const early = at('2026-11-16T06:56:00Z');

    expect(scalingAt(pool, early, 3 * MINUTE_MS).scaling).toMatchObject({ maxAgents: 2, minIdleSlots: 0 });
    expect(nextEdge(pool, early, 3 * MINUTE_MS)).toBe(early + MINUTE_MS);
    expect(scalingAt(pool, early + MINUTE_MS, 3 * MINUTE_MS).scaling).toMatchObject({
      maxAgents: 60,
      minIdleSlots: 10,
    });
    expect(scalingAt(pool, at('2026-11-16T16:58:00Z'), 3 * MINUTE_MS).scaling).toMatchObject({ maxAgents: 60 });
  });

  it('are the same object from edge to edge, so that equal decisions are written once', () => {
    const pool = spec([office]);
    const first = scalingAt(pool, at(monday)).scaling;

    expect(scalingAt(pool, at(monday) + HOUR_MS).scaling).toBe(first);
    expect(scalingAt(pool, at('2026-11-16T18:00:00Z')).scaling).not.toBe(first);
  });
});

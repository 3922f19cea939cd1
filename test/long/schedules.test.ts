import { describe, expect, it } from 'vitest';
import type { Schedule } from '#core/schedule.ts';
import { differencesOnTheWay } from '#core/testing/local-time.ts';

const YEAR = { from: Date.parse('2026-01-01T00:00:00Z'), until: Date.parse('2027-01-01T00:00:00Z') };
const WINDOWS: readonly Omit<Schedule, 'timezone'>[] = [
  { days: 'mon-fri', from: '08:00', to: '18:00' },
  { days: 'sat-sun', from: '22:00', to: '02:30' },
  { from: '02:15', to: '24:00' },
];

describe('schedules at every minute of a year', () => {
  // Each zone has one of the windows: all three are met in zones of every kind.
  it.each(Intl.supportedValuesOf('timeZone').map((timezone, at) => [timezone, at] as const))(
    'a window in %s is open exactly while its local clock is within it',
    (timezone, at) => {
      const window = WINDOWS[at % WINDOWS.length] as Schedule;

      expect(differencesOnTheWay({ ...window, timezone }, YEAR.from, YEAR.until)).toEqual([]);
    },
  );
});

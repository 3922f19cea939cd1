import { DAY_MS } from '#core/clock.ts';
import type { Forecast, Shadow } from '#core/forecast.ts';
import { poolWithSecret } from './rows.ts';

const fromMs = Date.UTC(2026, 0, 1);

const figures = {
  ...{ sessions: 10, unplaced: 1, waits: { p50Ms: 0, p95Ms: 1_234, p99Ms: 61_499 }, launches: 4, refused: 1 },
  ...{ machineHours: 1.004, dollars: 2.006, machinesWithoutPrice: 0 },
};

/** With every part that a forecast may have. */
export const someForecast: Forecast = {
  ...{ fromMs, untilMs: fromMs + DAY_MS, sessions: 10, seed: 1, recorded: figures, today: figures, notes: ['A note.'] },
  other: {
    ...figures,
    warnings: ['max_agents: is small'],
    difference: { atMs: fromMs, first: { atMs: fromMs, did: 'nothing', why: 'Enough.' } },
  },
};

export const shadowOfPool = (id: string): Shadow => ({
  ...{ id, policy: poolWithSecret('gpu').spec, warnings: [], since: fromMs, by: 'token:ann' },
});

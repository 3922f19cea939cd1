import { describe, expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '#core/clock.ts';
import { someScaling } from '#core/testing/pool.ts';
import { modelPool } from './model.ts';
import { answerQuestion, demandAtRate, type ModelQuestion, packDemand, unpackDemand } from './model-question.ts';

const FROM_MS = Date.UTC(2026, 10, 2);
const OFFERS = [{ id: 'a', pricePerHour: 2 }];
const SUPPLY = { a: { readyAfterMs: [MINUTE_MS] } };
const scaling = someScaling({ maxAgents: 50 });
const policy = { scaling, offers: OFFERS, supply: SUPPLY };
const stretch = { fromMs: FROM_MS, untilMs: FROM_MS + 24 * HOUR_MS, seed: 1 };
const demand = demandAtRate({ perHour: 10, lastsMs: 5 * MINUTE_MS }, stretch);

const ask = (more: Partial<ModelQuestion> = {}) =>
  answerQuestion({ demand: packDemand(demand), policies: [policy], ...stretch, ...more });

describe('a question to the model', () => {
  it('keeps every arrival as it is on the way to the thread', () => {
    const arrivals = [{ atMs: FROM_MS, lastsMs: 7, slots: 3, priority: -2 }];

    expect(unpackDemand(packDemand(arrivals))).toEqual(arrivals);
  });

  it('has the answer of the model for each policy, without its decisions', () => {
    const { decisions: _, ...figures } = modelPool({ ...policy, ...stretch, demand, mostEvents: 1_000_000 });

    expect(ask({ policies: [policy, policy] })).toEqual([figures, figures]);
  });

  it('names the first moment at which the second policy decides otherwise', () => {
    const other = { ...policy, scaling: someScaling({ maxAgents: 50, minIdleSlots: 2, maxIdleSlots: 4 }) };

    const [, run] = ask({ policies: [policy, other] });

    expect(run?.difference).toMatchObject({
      atMs: FROM_MS,
      first: { did: 'nothing' },
      other: { did: 'launch 2', reason: { code: expect.any(String) } },
    });
  });

  it('follows the schedules of a policy', () => {
    const hours = { from: '09:00', to: '10:00', timezone: 'UTC', minIdleAgents: 3, maxIdleAgents: 3 };

    const [without, within] = ask({
      demand: packDemand([]),
      policies: [policy, { ...policy, schedules: [hours] }],
    });

    expect(without).toMatchObject({ launches: 0 });
    expect(within).toMatchObject({ launches: 3, difference: { atMs: FROM_MS + 9 * HOUR_MS - MINUTE_MS } });
  });

  it('makes sessions at a rate that is met on average, the same for the same seed', () => {
    const rate = { perHour: 50, lastsMs: 6 * MINUTE_MS };

    const sessions = demandAtRate(rate, stretch);

    expect(sessions.length).toBeGreaterThan(1_080);
    expect(sessions.length).toBeLessThan(1_320);
    expect(demandAtRate(rate, stretch)).toEqual(sessions);
    expect(ask({ demand: rate })[0]).toMatchObject({ sessions: sessions.length });
  });
});

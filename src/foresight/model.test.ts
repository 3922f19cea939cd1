import { describe, expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '#core/clock.ts';
import type { Fault } from '#core/fault.ts';
import type { Arrival } from '#core/forecast.ts';
import { seededRandom } from '#core/random.ts';
import { someScaling } from '#core/testing/pool.ts';
import { type ModelInput, modelPool } from './model.ts';

const FROM_MS = Date.UTC(2026, 10, 2);
const OFFERS = [{ id: 'a', pricePerHour: 2 }];
const SUPPLY = { a: { readyAfterMs: [MINUTE_MS], goneAfterMs: [30_000] } };

/** Sessions at random times, so many an hour on average. */
function someDemand(count: number, perHour: number, lastsMs = 5 * MINUTE_MS): Arrival[] {
  const random = seededRandom(3);
  let atMs = FROM_MS;
  return Array.from({ length: count }, () => {
    atMs += (-Math.log(1 - random.next()) * HOUR_MS) / perHour;
    return { atMs: Math.round(atMs), lastsMs: Math.round(lastsMs * (0.5 + random.next())) };
  });
}

const model = (input: Partial<ModelInput> = {}) =>
  modelPool({
    ...{ scaling: someScaling({ maxAgents: 50 }), offers: OFFERS, supply: SUPPLY, demand: [], seed: 1 },
    ...{ fromMs: FROM_MS, untilMs: FROM_MS + 24 * HOUR_MS, mostEvents: 1_000_000 },
    ...input,
  });

describe('the model of a pool', () => {
  it('lets a session wait for a machine where none is idle, and counts what the machine costs until it is gone', () => {
    const scaling = someScaling({ minIdleSlots: 0, maxIdleSlots: 0 });

    const result = model({ scaling, demand: [{ atMs: FROM_MS + HOUR_MS, lastsMs: 29 * MINUTE_MS + 30_000 }] });

    expect(result).toMatchObject({
      sessions: 1,
      unplaced: 0,
      waits: { p50Ms: MINUTE_MS, p95Ms: MINUTE_MS, p99Ms: MINUTE_MS },
      launches: 1,
      removals: 1,
    });
    expect(result.machineHours).toBeCloseTo(31 / 60);
    expect(result.dollars).toBeCloseTo(62 / 60);
    expect(result.decisions.map(({ did }) => did)).toEqual(['nothing', 'launch 1', 'nothing', 'remove 1', 'nothing']);
  });

  it('launches a machine for each session where nothing may idle above min_idle, and few where there is room', () => {
    const demand = someDemand(500, 30);
    const trapped = model({ scaling: someScaling({ maxAgents: 50, minIdleSlots: 2, maxIdleSlots: 0 }), demand });
    const roomy = model({
      scaling: someScaling({ maxAgents: 50, minIdleSlots: 2, maxIdleSlots: 4, idleDecayMs: 10 * MINUTE_MS }),
      demand,
    });

    expect(trapped.launches / trapped.sessions).toBeGreaterThan(0.9);
    expect(roomy.launches / roomy.sessions).toBeLessThan(0.4);
  });

  it('gives the same answer for the same seed, and another one for another', () => {
    const supply = { a: { readyAfterMs: [30_000, 60_000, 90_000, 300_000] } };
    const input = { supply, demand: someDemand(200, 20) };

    expect(model(input)).toEqual(model(input));
    expect(model({ ...input, seed: 2 })).not.toEqual(model(input));
  });

  it('goes on to the next offer while the first one refuses', () => {
    const offers = [...OFFERS, { id: 'b', pricePerHour: 10 }];
    const supply = { a: { readyAfterMs: [1], refusals: { share: 1, afterMs: 1_000 } }, b: { readyAfterMs: [60_000] } };

    const result = model({ offers, supply, demand: [{ atMs: FROM_MS, lastsMs: 1_000 }] });

    expect(result.refused).toBeGreaterThan(0);
    expect(result.waits.p50Ms).toBe(61_000);
    expect(result.decisions.some(({ reason }) => reason.code === 'next-backend')).toBe(true);
  });

  it('counts a session that finds no machine with the time that it has waited by the end', () => {
    const demand = [{ atMs: FROM_MS + 23 * HOUR_MS, lastsMs: 1_000 }];

    const result = model({ scaling: someScaling({ maxAgents: 0 }), demand });

    expect(result).toMatchObject({ sessions: 1, unplaced: 1, waits: { p50Ms: HOUR_MS }, launches: 0 });
  });

  it('takes sessions of one arrival apart: each needs a slot', () => {
    const result = model({ demand: [{ atMs: FROM_MS, lastsMs: 1_000, slots: 4 }] });

    expect(result).toMatchObject({ sessions: 4, unplaced: 0, launches: 4 });
  });

  it('follows a policy that changes with time, at the moment when it changes', () => {
    const edgeMs = FROM_MS + 3 * HOUR_MS;
    const scaling = (atMs: number) => someScaling({ minIdleSlots: atMs >= edgeMs ? 3 : 0, maxIdleSlots: 4 });
    const nextEdge = (atMs: number) => (atMs < edgeMs ? edgeMs : undefined);

    const { launches, decisions } = model({ scaling, nextEdge });

    expect(launches).toBe(3);
    expect(decisions.find(({ did }) => did === 'launch 3')?.atMs).toBe(edgeMs);
  });

  it('counts no launch for workers that the pool keeps at rest, where it starts at rest', () => {
    const scaling = someScaling({ minAgents: 2 });

    expect(model({ scaling }).launches).toBe(2);
    expect(model({ scaling, startsAtRest: true })).toMatchObject({ launches: 0, machineHours: 48, dollars: 96 });
  });

  it('says how many machines had no price', () => {
    const demand = [{ atMs: FROM_MS, lastsMs: 1_000 }];

    expect(model({ offers: [{ id: 'a' }], demand })).toMatchObject({ dollars: 0, machinesWithoutPrice: 1 });
    expect(model({ demand }).machinesWithoutPrice).toBe(0);
  });

  it('stops with a remedy after so many events', () => {
    expect(() => model({ demand: someDemand(100, 20), mostEvents: 50 })).toThrow(
      expect.objectContaining({ kind: 'quota', remedy: expect.stringMatching(/shorter/) }) as Fault,
    );
  });

  it('asks another planner where one is given', () => {
    const planner = () => ({ actions: [], did: 'nothing', reason: { code: 'enough' }, why: 'Never.' });

    expect(model({ planner, demand: [{ atMs: FROM_MS, lastsMs: 1 }] })).toMatchObject({ launches: 0, unplaced: 1 });
  });
});

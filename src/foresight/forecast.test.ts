import { describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#core/clock.ts';
import type { ForecastQuestion } from '#core/forecast.ts';
import { append, put } from '#core/store.ts';
import { openForecasts } from './forecast.ts';
import { endedMachine, endedSession, GPU, NOW_MS, openRecords, poolOf, recordedDays } from './testing/recorded-pool.ts';

const CALLER = { token: 'ann', signal: new AbortController().signal };
const gpu = poolOf(GPU);

async function forecastOf(question: Partial<ForecastQuestion>, changes = recordedDays(gpu, 2)) {
  const deps = await openRecords(changes);
  const demand = { sinceMs: NOW_MS - 7 * DAY_MS };
  return openForecasts(deps).forecast({ pool: gpu, demand, seed: 1, ...question }, CALLER);
}

describe('a forecast', () => {
  it('repeats the sessions of a pool under its policy, beside what really happened', async () => {
    const { today, recorded, other, ...about } = await forecastOf({});

    expect(about).toEqual({ fromMs: NOW_MS - 7 * DAY_MS, untilMs: NOW_MS, sessions: 48, seed: 1, notes: [] });
    expect(recorded).toMatchObject({ sessions: 48, launches: 48, waits: { p95Ms: MINUTE_MS } });
    expect(today).toMatchObject({ sessions: 48, launches: 48, waits: { p95Ms: MINUTE_MS } });
    expect(today.dollars / (recorded?.dollars ?? 0)).toBeCloseTo(1, 1);
    expect(other).toBeUndefined();
  });

  it('sets another policy beside it, and names the first decision that differs', async () => {
    const { today, other } = await forecastOf({ set: { min_idle_agents: 1, max_idle_agents: 2 } });

    expect(today.waits.p95Ms).toBe(MINUTE_MS);
    expect(other).toMatchObject({ waits: { p95Ms: 0 }, difference: { first: { did: 'nothing' } }, warnings: [] });
    expect(other?.dollars).toBeGreaterThan(2 * today.dollars);
  });

  it('warns of another policy that would launch a machine for each session', async () => {
    const { other } = await forecastOf({ set: { min_idle_agents: 2 } });

    expect(other?.launches).toBeGreaterThan(40);
    expect(other?.warnings).toEqual([expect.stringMatching(/^min_idle_agents: keeps 2 idle.* each session launches/)]);
  });

  it('refuses a key that is none before it reads anything, and names the nearest', async () => {
    await expect(forecastOf({ set: { min_idel_agents: 2 } })).rejects.toMatchObject({
      kind: 'invalid',
      at: 'set',
      message: 'min_idel_agents: is not a known key; did you mean min_idle_agents?',
    });
    await expect(forecastOf({ set: { backend: { process: {} } } })).rejects.toMatchObject({ kind: 'invalid' });
    await expect(forecastOf({ set: { max_agents: -1 } })).rejects.toMatchObject({
      message: expect.stringContaining('max_agents: must be at least 0'),
    });
  });

  it('takes a key out where its value is null', async () => {
    const scheduled = poolOf(`${GPU}  schedules: [{ from: "08:00", to: "18:00", min_idle_agents: 3 }]\n`);

    const { other } = await forecastOf({ pool: scheduled, set: { schedules: null } });

    expect(other?.difference).toMatchObject({ first: { did: 'launch 3' }, other: { did: 'nothing' } });
  });

  it('begins with the oldest record where more is asked for, and says so', async () => {
    const young = poolOf(GPU, { createdAt: NOW_MS - 30 * HOUR_MS });

    const { fromMs, notes } = await forecastOf({ pool: young });
    const old = await forecastOf({ demand: { sinceMs: NOW_MS - 400 * DAY_MS } });

    expect(fromMs).toBe(NOW_MS - 30 * HOUR_MS);
    expect(notes).toEqual([expect.stringContaining('begin at 2026-11-17T18:00:00.000Z')]);
    expect(old.fromMs).toBeGreaterThanOrEqual(NOW_MS - 60 * DAY_MS);
    expect(old.notes).toHaveLength(1);
  });

  it('says how much there is where there is nothing to repeat, and takes a rate instead', async () => {
    const launched = [append('endedMachines', endedMachine(gpu, NOW_MS - 2 * DAY_MS, { readyMs: 3 * MINUTE_MS }))];
    await expect(forecastOf({}, launched)).rejects.toMatchObject({
      kind: 'invalid',
      message: expect.stringMatching(/^Since 2026-11-12.* no session that got a slot, and 1 machines/),
      remedy: expect.stringContaining('--sessions'),
    });

    const demand = { perHour: 4, lastsMs: MINUTE_MS, forMs: 10 * HOUR_MS };
    const { today, recorded, fromMs, untilMs, notes } = await forecastOf({ demand }, launched);

    expect([fromMs, untilMs]).toEqual([NOW_MS, NOW_MS + 10 * HOUR_MS]);
    expect(today.sessions).toBeGreaterThan(20);
    expect(today.waits.p95Ms).toBe(3 * MINUTE_MS);
    expect([recorded, notes]).toEqual([undefined, []]);
  });

  it('takes given sessions in any order, until the last one has ended', async () => {
    const arrivals = [
      { atMs: NOW_MS + HOUR_MS, lastsMs: 2 * HOUR_MS },
      { atMs: NOW_MS, lastsMs: MINUTE_MS, slots: 2 },
    ];

    const { sessions, fromMs, untilMs, today } = await forecastOf({ demand: { arrivals } });

    expect([sessions, fromMs]).toEqual([3, NOW_MS]);
    expect(untilMs).toBeGreaterThanOrEqual(NOW_MS + 3 * HOUR_MS);
    expect(today).toMatchObject({ launches: 3, unplaced: 0 });
  });

  it('names what was not measured: times to boot, prices, ends', async () => {
    const bare = poolOf(GPU.replace(', price_per_hour: 2', ''));
    const { end: _, ...running } = endedSession(bare, NOW_MS - HOUR_MS);

    const { today, notes } = await forecastOf({ pool: bare }, [put('sessions', running)]);

    expect(today).toMatchObject({ sessions: 1, dollars: 0, machinesWithoutPrice: 1, waits: { p50Ms: 2 * MINUTE_MS } });
    expect(notes).toEqual([
      expect.stringContaining('1 of the sessions have not ended'),
      expect.stringContaining('ready after 2m'),
      expect.stringContaining('1 of 1 backends have no price'),
    ]);
  });

  it('says that it leaves a wait target out', async () => {
    const { notes } = await forecastOf({ set: { wait_target: { p95: '5s', max_idle_agents: 3 } } });

    expect(notes).toEqual([expect.stringContaining('wait_target is not in the model')]);
  });

  it('refuses a pool without a backend, and a demand that is too large', async () => {
    await expect(forecastOf({ pool: poolOf('name: own') })).rejects.toMatchObject({ kind: 'invalid', at: 'pool' });
    const demand = { perHour: 1e6, lastsMs: 1, forMs: HOUR_MS };
    await expect(forecastOf({ demand })).rejects.toMatchObject({ kind: 'invalid', message: /1000000 sessions/ });
  });

  it('writes nothing', async () => {
    const deps = await openRecords(recordedDays(gpu, 1));
    const written: unknown[] = [];
    deps.store.onDurable((changes) => void written.push(...changes));
    const question = { pool: gpu, demand: { sinceMs: 0 }, set: { max_agents: 1 }, seed: 1 };

    await openForecasts(deps).forecast(question, CALLER);
    await deps.store.durable();

    expect(written).toEqual([]);
  });
});

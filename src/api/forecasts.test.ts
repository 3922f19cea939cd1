import { describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Forecast, ForecastCaller, ForecastQuestion, Forecasts, Shadow } from '#core/forecast.ts';
import type { Pool } from '#core/pool.ts';
import { shadowOfPool, someForecast } from './testing/forecast.ts';
import { poolWithSecret, row } from './testing/rows.ts';
import { apiWorld } from './testing/world.ts';

const json = { 'content-type': 'application/json' };

async function forecastWorld(answer: () => Forecast = () => someForecast) {
  const documents: string[] = [];
  let shadow: Shadow | undefined;
  const asked: { question: ForecastQuestion; caller: ForecastCaller }[] = [];
  const world = await apiWorld({ rows: [row('pools', poolWithSecret('gpu'))] });
  const foresight = {
    async forecast(question: ForecastQuestion, caller: ForecastCaller) {
      asked.push({ question, caller });
      return answer();
    },
    async setShadow({ id }: Pool, document: string) {
      documents.push(document);
      shadow = shadowOfPool(id);
      return { shadow };
    },
    launchesASession: () => 1,
    async dropShadow() {
      shadow = undefined;
    },
    shadowOf: () => shadow && { shadow, forecast: someForecast, problem: 'Too many.' },
  } satisfies Forecasts;
  Object.assign(world.deps.features, { foresight });
  const post = (payload: object) => world.call('POST', '/api/v1/forecasts', { as: 'viewer', headers: json, payload });
  return { ...world, post, asked, documents };
}

describe('POST /forecasts', () => {
  it('answers a viewer with the figures of both policies and the first decision that differs', async () => {
    const { post } = await forecastWorld();

    const answer = await post({ pool: 'gpu', set: { max_agents: 2 } });

    const shown = {
      ...{ sessions: 10, waiting: 1, waits: { p50: '0s', p95: '1s234ms', p99: '1m1s' }, launches: 4, refused: 1 },
      ...{ machine_hours: 1, dollars: 2.01, machines_without_price: 0 },
    };
    expect([answer.statusCode, answer.json()]).toEqual([
      200,
      {
        ...{ pool: 'gpu', from: '2026-01-01T00:00:00.000Z', until: '2026-01-02T00:00:00.000Z', sessions: 10, seed: 1 },
        ...{ recorded: shown, today: shown, notes: ['A note.'] },
        other: {
          ...shown,
          set: { max_agents: 2 },
          warnings: ['max_agents: is small'],
          first_difference: {
            at: '2026-01-01T00:00:00.000Z',
            today: { at: '2026-01-01T00:00:00.000Z', did: 'nothing', why: 'Enough.' },
          },
        },
      },
    ]);
  });

  it('asks for the last seven days where no demand is given, in the name of the token', async () => {
    const { post, asked, clock } = await forecastWorld();

    await post({ pool: 'gpu' });
    await post({ pool: 'gpu', since: '2d', seed: 7 });

    const [usual, other] = asked;
    expect(usual?.question).toMatchObject({ pool: { name: 'gpu' }, seed: 1 });
    expect(usual?.question.demand).toEqual({ sinceMs: clock.now() - 7 * DAY_MS });
    expect(other?.question).toMatchObject({ demand: { sinceMs: clock.now() - 2 * DAY_MS }, seed: 7 });
    expect(usual?.caller.token).toBe(other?.caller.token);
    expect(usual?.caller.token).not.toBe('');
  });

  it('takes a rate or single sessions for a demand', async () => {
    const { post, asked } = await forecastWorld();

    await post({ pool: 'gpu', rate: { per_hour: 500, lasting: '6m', for: '4h' } });
    await post({ pool: 'gpu', trace: [{ submitted: 10, seconds: 2.5, slots: 3 }] });

    expect(asked.map(({ question }) => question.demand)).toEqual([
      { perHour: 500, lastsMs: 6 * MINUTE_MS, forMs: 4 * HOUR_MS },
      { arrivals: [{ atMs: 10_000, lastsMs: 2_500, slots: 3 }] },
    ]);
  });

  it('refuses two demands, unknown pools and bad values with their place', async () => {
    const { post, asked } = await forecastWorld();
    const rate = { per_hour: 0, lasting: '6m', for: '4h' };

    const two = await post({ pool: 'gpu', since: '1d', trace: [] });
    const unknown = await post({ pool: 'gpus' });
    const none = await post({ pool: 'gpu', rate });

    expect([two.statusCode, two.json().detail]).toEqual([422, expect.stringContaining('only one of since, rate')]);
    expect([unknown.statusCode, unknown.json().remedy]).toEqual([404, 'Did you mean gpu?']);
    expect([none.statusCode, none.json().at]).toEqual([422, 'body.rate.per_hour']);
    expect(asked).toEqual([]);
  });

  it('tells a token with too many forecasts to wait', async () => {
    const { post } = await forecastWorld(() => {
      throw new Fault('throttled', 'This token has 2 forecasts that wait for their turn.');
    });

    expect((await post({ pool: 'gpu' })).statusCode).toBe(429);
  });
});

describe('the shadow of a pool', () => {
  const path = '/api/v1/pools/gpu/shadow';
  const yaml = { 'content-type': 'application/yaml' };

  it('is set and ended by operators alone, and seen by viewers', async () => {
    const { call, documents } = await forecastWorld();
    const put = (as: 'viewer' | 'operator') => call('PUT', path, { as, headers: yaml, payload: 'name: gpu' });

    const refused = await put('viewer');
    const set = await put('operator');
    const seen = await call('GET', path, { as: 'viewer' });
    const kept = await call('DELETE', path, { as: 'viewer' });
    const ended = await call('DELETE', path, { as: 'operator' });
    const gone = await call('GET', path, { as: 'viewer' });

    expect([refused, set, seen, kept, ended, gone].map(({ statusCode }) => statusCode)).toEqual([
      ...[403, 200, 200, 403, 204, 404],
    ]);
    expect(documents).toEqual(['name: gpu']);
    expect(seen.json()).toMatchObject({
      ...{ pool: 'gpu', since: '2026-01-01T00:00:00.000Z', by: 'token:ann', problem: 'Too many.' },
      forecast: { today: { launches: 4 }, other: { launches: 4 } },
    });
    expect(gone.json().remedy).toContain('muster pool shadow');
  });

  it('is read at once, so a long document is refused', async () => {
    const { call } = await forecastWorld();
    const payload = `name: gpu # ${'x'.repeat(70_000)}`;

    expect((await call('PUT', path, { as: 'operator', headers: yaml, payload })).statusCode).toBe(413);
  });
});

import { describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#core/clock.ts';
import { aSession, aWorker, poolWithSecret, row } from './testing/rows.ts';
import { apiWorld } from './testing/world.ts';
import type { Series } from './wire/series.ts';

const gpu = poolWithSecret('gpu');

async function charted(forMs: number) {
  const world = await apiWorld({
    rows: [
      row('pools', gpu),
      row('workers', aWorker('m1', gpu.id, { pricePerHour: 2 })),
      row('sessions', aSession('s1', gpu)),
    ],
  });
  await world.clock.advance(forMs);
  const ask = (url: string) => world.call('GET', `/api/v1${url}`, { as: 'viewer' });
  return { ...world, ask, see: async (url: string) => (await ask(url)).json<Series>() };
}

describe('series', () => {
  it('show the last hour by the minute, of a pool and of all pools together', async () => {
    const { see } = await charted(2 * HOUR_MS);

    const pool = await see('/pools/gpu/series');

    expect(pool.step_ms).toBe(MINUTE_MS);
    expect(pool.points).toHaveLength(61);
    expect(pool.points.at(-1)).toEqual({
      ...{ at: '2026-01-01T02:00:00.000Z', queued: 1, busy: 0, idle: 0, starting: 1, wanted: 0, dollars: 2 },
    });
    expect(await see('/series')).toEqual(pool);
  });

  it.each([
    ['3h', MINUTE_MS, 181],
    ['24h', 15 * MINUTE_MS, 97],
    ['2026-01-01T00:00:00Z', 15 * MINUTE_MS, 169],
    ['24h&step=1h', HOUR_MS, 25],
  ])('since %s have steps of %d ms', async (since, stepMs, count) => {
    const { see } = await charted(DAY_MS + 18 * HOUR_MS);

    const { step_ms, points } = await see(`/series?since=${since}`);

    expect([step_ms, points.length]).toEqual([stepMs, count]);
  });

  it.each([
    ['/pools/gpx/series', 404, 'path.pool'],
    ['/series?since=81d', 422, 'query.since'],
    ['/series?since=soon', 422, 'query.since'],
    ['/series?step=1s', 422, 'query.step'],
    ['/series?since=30d&step=1m', 422, 'query.step'],
  ])('%s is refused', async (url, status, at) => {
    const { ask } = await charted(0);

    const answer = await ask(url);

    expect(answer.statusCode).toBe(status);
    expect(answer.json()).toMatchObject({ at });
  });
});

import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { poolWithSecret, row } from './testing/rows.ts';
import { apiWorld } from './testing/world.ts';

const rows = Array.from({ length: 50 }, (_, n) => row('pools', poolWithSecret(`pool-${n}`)));

async function asked(url: string, accepted: string | undefined, method: 'GET' | 'HEAD' = 'GET') {
  const { call } = await apiWorld({ rows });
  return call(method, url, { headers: accepted === undefined ? {} : { 'accept-encoding': accepted } });
}

describe('answers over 4 KB', () => {
  it.each(['gzip', 'gzip, deflate, br', 'br;q=1.0, gzip;q=0.8, *;q=0.1', 'GZIP'])(
    'are compressed for a client that sends Accept-Encoding: %s',
    async (accepted) => {
      const plain = await asked('/api/v1/pools', undefined);
      const answer = await asked('/api/v1/pools', accepted);

      expect(answer.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'accept-encoding' });
      expect(Number(answer.headers['content-length'])).toBe(answer.rawPayload.byteLength);
      expect(answer.rawPayload.byteLength).toBeLessThan(plain.rawPayload.byteLength / 5);
      expect(gunzipSync(answer.rawPayload).toString()).toBe(plain.body);
    },
  );

  it.each([undefined, 'identity', 'br', 'gzip;q=0', 'gzip;q=0.000', 'xgzip'])(
    'stay as they are for one that sends %s',
    async (accepted) => {
      const answer = await asked('/api/v1/pools', accepted);

      expect(answer.headers['content-encoding']).toBeUndefined();
      expect(answer.headers.vary).toBe('accept-encoding');
      expect(answer.json().items).toHaveLength(50);
    },
  );

  it('are not compressed where only the headers are asked for', async () => {
    expect((await asked('/api/v1/pools', 'gzip', 'HEAD')).headers['content-encoding']).toBeUndefined();
  });
});

it('a short answer and the stream of changes are never compressed', async () => {
  const { call, api, tokens } = await apiWorld({ rows });
  const headers = { 'accept-encoding': 'gzip' };

  const short = await call('GET', '/api/v1/me', { headers });
  const stream = await api.app.inject({
    url: '/api/v1/changes',
    headers: { ...headers, host: 'localhost', authorization: `Bearer ${tokens.viewer}` },
    payloadAsStream: true,
  });

  expect(short.headers['content-encoding']).toBeUndefined();
  expect(stream.headers['content-encoding']).toBeUndefined();
  expect(stream.headers['content-type']).toContain('text/event-stream');
  stream.stream().destroy();
});

import { expect, it } from 'vitest';
import { going } from '#core/testing/going.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { restClient } from './client.ts';

interface Sent {
  readonly url: string;
  readonly method: string | undefined;
  readonly headers: Headers;
  readonly body: unknown;
}

function setUp(answer: (sent: Sent) => Response | Promise<Response>) {
  const clock = new VirtualClock();
  const sent: Sent[] = [];
  const ask = restClient({
    clock,
    base: 'https://api.example.com/v2/',
    cloud: 'Example',
    headers: async () => ({ authorization: 'Bearer secret' }),
    explain: (_status, body) => {
      const { code } = (body ?? {}) as { code?: string };
      return code === 'no_stock' ? { kind: 'exhausted', message: 'Sold out.', remedy: 'Wait.' } : undefined;
    },
    fetch: async (url, init) => {
      const { method, headers, body } = init ?? {};
      const one = { url: String(url), method, headers: new Headers(headers), body };
      sent.push(one);
      return answer(one);
    },
  });
  return { clock, sent, ask };
}

it('sends JSON with credentials, and answers JSON or nothing', async () => {
  const { ask, sent } = setUp(({ method }) =>
    method === 'DELETE' ? new Response(null, { status: 204 }) : Response.json({ id: 1 }),
  );
  const made = await ask<{ id: number }>({ method: 'POST', path: '/droplets', body: { name: 'a' } }, going());
  await ask({ path: '/droplets', query: { page: 2, tag: 'a b', none: undefined } }, going());

  expect(made).toEqual({ id: 1 });
  expect(await ask({ method: 'DELETE', path: '/droplets/1' }, going())).toBeUndefined();
  expect(sent.map(({ url }) => url)).toEqual([
    'https://api.example.com/v2/droplets',
    'https://api.example.com/v2/droplets?page=2&tag=a+b',
    'https://api.example.com/v2/droplets/1',
  ]);
  expect(sent[0]?.headers.get('authorization')).toBe('Bearer secret');
  expect(JSON.parse(String(sent[0]?.body))).toEqual({ name: 'a' });
});

it('makes a fault of every other status, by the words of the cloud where it has some', async () => {
  const throttled = setUp(() => new Response('slow\ndown', { status: 429, headers: { 'retry-after': '3' } }));
  const soldOut = setUp(() => Response.json({ code: 'no_stock' }, { status: 422 }));

  await expect(throttled.ask({ path: '/a' }, going())).rejects.toMatchObject({
    kind: 'throttled',
    retryAfterMs: 3_000,
    message: 'GET /a of Example failed: 429: slow down',
  });
  await expect(soldOut.ask({ path: '/a' }, going())).rejects.toMatchObject({
    kind: 'exhausted',
    message: 'GET /a of Example failed: 422: Sold out.',
    remedy: 'Wait.',
  });
});

it('takes no answer, and one that is not JSON, for an unclear one', async () => {
  const refused = setUp(() => {
    throw new TypeError('fetch failed', { cause: new Error('ECONNREFUSED') });
  });
  const garbled = setUp(() => new Response('<html>'));
  const hanging = setUp(() => new Promise<Response>(() => {}));

  await expect(refused.ask({ path: '/a' }, going())).rejects.toMatchObject({
    kind: 'unavailable',
    message: 'GET /a of Example got no answer: fetch failed: ECONNREFUSED',
  });
  await expect(garbled.ask({ path: '/a' }, going())).rejects.toMatchObject({ kind: 'unavailable' });
  const late = hanging.ask({ path: '/a' }, going()).catch((thrown: unknown) => thrown);
  await hanging.clock.advance(30_000);
  expect(await late).toMatchObject({ message: 'GET /a of Example did not answer within 30s.' });
});

it('sends a form where that is wanted, and answers text where that is', async () => {
  const { ask, sent } = setUp(() => new Response('a.b.c'));

  expect(await ask({ method: 'POST', path: '/token', form: { grant_type: 'x y' }, isText: true }, going())).toBe(
    'a.b.c',
  );
  expect(sent[0]?.headers.get('content-type')).toBe('application/x-www-form-urlencoded');
  expect(sent[0]?.body).toBe('grant_type=x+y');
});

it('takes 304 as an answer only where the question has a condition, and shows the headers of every answer', async () => {
  const headers = { etag: '"2"', 'retry-after-ms': '250' };
  const { ask, sent } = setUp(() => new Response(null, { status: 304, headers }));
  const heard: (string | null)[] = [];
  const request = {
    path: '/a',
    headers: { 'if-none-match': '"1"' },
    heard: (answer: Response) => void heard.push(answer.headers.get('etag')),
  };

  expect(await ask({ ...request, mayBeUnchanged: true }, going())).toBeUndefined();
  await expect(ask(request, going())).rejects.toMatchObject({ kind: 'unavailable', retryAfterMs: 250 });
  expect(heard).toEqual(['"2"', '"2"']);
  expect(sent[0]?.headers.get('if-none-match')).toBe('"1"');
});

it('sends bytes as they stand, with their type', async () => {
  const { ask, sent } = setUp(() => new Response(null, { status: 200 }));
  const content = new Uint8Array([0, 255, 10]);
  await ask({ method: 'PUT', path: '/archive', bytes: { type: 'application/x-tar', content } }, going());

  expect(sent[0]?.body).toBe(content);
  expect(sent[0]?.headers.get('content-type')).toBe('application/x-tar');
});

import { describe, expect, it } from 'vitest';
import { during } from '#core/testing/during.ts';
import { going } from '#core/testing/going.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { cloudClient } from './cloud-client.ts';
import { fixedToken, openTokens } from './tokens.ts';

const clock = new VirtualClock();
const BASE = { base: 'https://cloud.example/v1', cloud: 'Cloud', rates: [] };

/** Tokens `1`, `2`, …, and a cloud that takes only the listed ones. */
function openScene(good: readonly string[]) {
  const shown: (string | null)[] = [];
  let granted = 0;
  const tokens = openTokens({ clock, renew: async () => ({ value: String(++granted), expiresAt: 1e15 }) });
  const fetch = async (_url: unknown, { headers }: RequestInit = {}): Promise<Response> => {
    const token = new Headers(headers).get('authorization');
    shown.push(token);
    const isGood = good.includes(token?.replace('Bearer ', '') ?? '');
    return Response.json({}, { status: isGood ? 200 : 401 });
  };
  return { shown, auth: tokens, context: { clock, fetch: fetch as typeof globalThis.fetch } };
}

it('replaces a token that was revoked before its end, once a request', async () => {
  const { shown, ...parts } = openScene(['2']);
  const { ask } = cloudClient({ ...BASE, ...parts });

  expect(await ask({ path: '/a' }, going())).toEqual({});
  expect(shown).toEqual(['Bearer 1', 'Bearer 2']);
});

it('says so where the new one is refused too', async () => {
  const { shown, ...parts } = openScene([]);
  const { ask } = cloudClient({ ...BASE, ...parts });

  await expect(ask({ path: '/a' }, going())).rejects.toMatchObject({ kind: 'unauthenticated' });
  expect(shown).toHaveLength(2);
});

it('shows no token to what is asked in clear', async () => {
  const { shown, context } = openScene([]);
  const { ask } = cloudClient({ ...BASE, context, auth: undefined });

  await expect(ask({ path: '/a' }, going())).rejects.toMatchObject({ kind: 'unauthenticated' });
  expect(shown).toEqual([null]);
});

it('asks once where there is only one token', async () => {
  const { shown, context } = openScene([]);
  const { ask } = cloudClient({ ...BASE, context, auth: fixedToken('1') });

  await expect(ask({ path: '/a' }, going())).rejects.toMatchObject({
    kind: 'unauthenticated',
    message: expect.stringContaining('401'),
  });
  expect(shown).toEqual(['Bearer 1']);
});

/** A cloud that answers by the address. */
function openPages(answers: Readonly<Record<string, unknown>>, rates: Parameters<typeof cloudClient>[0]['rates'] = []) {
  const asked: { readonly url: string; readonly atMs: number }[] = [];
  const time = new VirtualClock();
  const fetch = async (url: unknown): Promise<Response> => {
    asked.push({ url: String(url), atMs: time.monotonic() });
    const answer = answers[String(url)];
    return answer instanceof Response ? answer : Response.json(answer);
  };
  const context = { clock: time, fetch: fetch as typeof globalThis.fetch };
  return { asked, time, client: cloudClient({ ...BASE, context, auth: undefined, rates }) };
}

interface Page {
  readonly found?: readonly string[];
  readonly after?: string;
  readonly link?: string;
}
const items = ({ found }: Page) => found;

describe('a listing', () => {
  it('has every page, by a token or by the full address of the next one', async () => {
    const { client } = openPages({
      'https://cloud.example/v1/a?x=1': { found: ['a'], after: 'two' },
      'https://cloud.example/v1/a?x=1&token=two': { found: ['b'] },
      'https://cloud.example/v1/b': { found: ['c'], link: 'https://cloud.example/v1/b?skip=1' },
      'https://cloud.example/v1/b?skip=1': { found: [] },
    });
    const byToken = await client.all(
      { path: '/a', query: { x: 1 }, items, next: ({ after: token }: Page) => token && { token } },
      going(),
    );
    const byLink = await client.all({ path: '/b', items, next: ({ link }: Page) => link }, going());

    expect([byToken, byLink]).toEqual([['a', 'b'], ['c']]);
  });

  it('that is answered by somebody else, or leads elsewhere, is refused', async () => {
    const { client, time } = openPages({
      'https://cloud.example/v1/a': { welcome: true },
      'https://cloud.example/v1/b': { found: ['c'], link: 'https://evil.example/v1/b' },
    });
    const next = ({ link }: Page) => link;

    await expect(during(time, client.all({ path: '/a', items, next }, going()))).rejects.toThrow(
      'cloud.example answered /a without a list',
    );
    await expect(during(time, client.all({ path: '/b', items, next }, going()))).rejects.toThrow(
      'names an address at https://evil.example',
    );
  });
});

it('requests keep to the limits that they count for, and wait where the cloud throttles one', async () => {
  const slow = new Response('', { status: 429, headers: { 'retry-after': '7' } });
  const isWrite = ({ method = 'GET' }: { method?: string }): boolean => method !== 'GET';
  const { client, asked, time } = openPages(
    { 'https://cloud.example/v1/slow': slow, 'https://cloud.example/v1/a': {} },
    [
      { perSecond: 1, burst: 2, counts: isWrite },
      { perSecond: 100, burst: 100, counts: (request) => !isWrite(request) },
    ],
  );
  const writes = [1, 2, 3].map(() => client.ask({ method: 'POST', path: '/a' }, going()));
  const read = client.ask({ path: '/slow' }, going()).catch(() => {});
  await time.advance(500);
  await read;
  const after = client.ask({ path: '/a' }, going());
  await time.advance(10_000);
  await Promise.all([...writes, after]);

  expect(asked.map(({ atMs }) => atMs - (asked[0]?.atMs ?? 0))).toEqual([0, 0, 0, 1_000, 7_000]);
});

it('an answer is kept for its time, and one that failed is not', async () => {
  const { client, time } = openPages({});
  const reads: number[] = [];
  const read = async () => reads.push(time.monotonic());
  await expect(client.keep('a', 1_000, () => Promise.reject(new Error('away')))).rejects.toThrow('away');
  for (const ms of [0, 999, 1]) {
    await time.advance(ms);
    await client.keep('a', 1_000, read);
  }

  expect(reads).toHaveLength(2);
});

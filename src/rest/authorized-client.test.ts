import { expect, it } from 'vitest';
import { going } from '#core/testing/going.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { authorizedClient } from './authorized-client.ts';
import { openTokens } from './tokens.ts';

const BASE = { clock: new VirtualClock(), base: 'https://cloud.example', cloud: 'Cloud' };

/** Tokens `1`, `2`, …, and a cloud that takes only the listed ones. */
function openScene(good: readonly string[]) {
  const shown: (string | null)[] = [];
  let granted = 0;
  const tokens = openTokens({ clock: BASE.clock, renew: async () => ({ value: String(++granted), expiresAt: 1e15 }) });
  const fetch = async (_url: unknown, { headers }: RequestInit = {}): Promise<Response> => {
    const token = new Headers(headers).get('authorization');
    shown.push(token);
    const isGood = good.includes(token?.replace('Bearer ', '') ?? '');
    return Response.json({}, { status: isGood ? 200 : 401 });
  };
  return { shown, tokens, fetch: fetch as typeof globalThis.fetch };
}

it('replaces a token that was revoked before its end, once a request', async () => {
  const { shown, ...parts } = openScene(['2']);
  const ask = authorizedClient({ ...BASE, ...parts });

  expect(await ask({ path: '/a' }, going())).toEqual({});
  expect(shown).toEqual(['Bearer 1', 'Bearer 2']);
});

it('says so where the new one is refused too', async () => {
  const { shown, ...parts } = openScene([]);
  const ask = authorizedClient({ ...BASE, ...parts });

  await expect(ask({ path: '/a' }, going())).rejects.toMatchObject({ kind: 'unauthenticated' });
  expect(shown).toHaveLength(2);
});

it('shows no token to what is asked in clear', async () => {
  const { shown, fetch } = openScene([]);
  const ask = authorizedClient({ ...BASE, fetch, tokens: undefined });

  await expect(ask({ path: '/a' }, going())).rejects.toMatchObject({ kind: 'unauthenticated' });
  expect(shown).toEqual([null]);
});

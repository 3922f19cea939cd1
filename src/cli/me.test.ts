import { expect, it } from 'vitest';
import { openScene } from './testing.ts';

const me = {
  name: 'ada',
  who: 'token:ada',
  role: 'operator',
  expires_at: '2026-01-02T00:00:00.000Z',
  is_cookie: false,
};

it.each(['me', 'whoami'])(
  '`muster %s` shows name, role and expiry of the token, and which server knows it',
  async (word) => {
    const { muster, output } = openScene(({ path }) => (path === '/me' ? me : new Error(path)));

    expect(await muster(word, '--address', 'http://there:1')).toBe(0);
    expect(output()).toMatch(
      /Name +ada\nRole +operator\nExpires +2026-01-02.*\nEvents +by token:ada\nServer +http:\/\/there:1\n/,
    );
  },
);

it('a token without an end never expires', async () => {
  const { expires_at: _, ...forEver } = me;
  const { muster, output } = openScene(() => forEver);

  await muster('me');
  expect(output()).toMatch(/Expires +never/);
});

import { describe, expect, it } from 'vitest';
import { ROLES } from '#core/access.ts';
import { HOUR_MS } from '#core/clock.ts';
import { apiWorld } from './testing/world.ts';

describe('GET /me', () => {
  it.each(ROLES)('tells the role %s and the name of the token', async (role) => {
    const { call } = await apiWorld();

    const me = (await call('GET', '/api/v1/me', { as: role })).json();

    expect(me).toEqual({ name: role, who: `token:${role}`, role, is_cookie: false });
  });

  it('tells a browser the name of the token that its login link came from, and when its session ends', async () => {
    const { api, call, clock } = await apiWorld();
    const link = (await call('POST', '/api/v1/login-links', { as: 'operator', payload: { role: 'viewer' } })).json();
    const login = await api.app.inject({ url: link.path, headers: { host: 'localhost' } });
    const cookie = String(login.headers['set-cookie']).split(';')[0] ?? '';

    const me = await api.app.inject({ url: '/api/v1/me', headers: { host: 'localhost', cookie } });

    expect(me.json()).toEqual({
      name: 'operator',
      who: 'token:operator (browser)',
      role: 'viewer',
      expires_at: new Date(clock.now() + 12 * HOUR_MS).toISOString(),
      is_cookie: true,
    });
  });
});

import { describe, expect, it } from 'vitest';
import { ROLES } from '#core/access.ts';
import { Fault } from '#core/fault.ts';
import { FLEET } from '#core/worker.ts';
import { isAtLeast } from '../access/tokens.ts';
import { checkHost } from './host-header.ts';
import { poolWithSecret, row } from './testing/rows.ts';
import { apiWorld } from './testing/world.ts';

const at = (path: string): string => path.replace(/:\w+/g, 'nothing');

describe('access', () => {
  it('answers a browser that is not logged in with a page that tells how; a program gets JSON', async () => {
    const { api } = await apiWorld();
    const ask = (url: string, accept: string, method: 'GET' | 'POST' = 'GET') =>
      api.app.inject({ method, url, headers: { host: 'localhost:8081', accept } });
    const html = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

    for (const url of ['/', '/docs', '/api/v1/pools', '/no-such-page', '/login?code=used']) {
      const page = await ask(url, html);
      expect(page.statusCode, url).toBe(401);
      expect(page.headers['content-type'], url).toBe('text/html; charset=utf-8');
      expect(page.body, url).toContain('<code>npx muster login</code>');
      expect(page.body, url).toContain('MUSTER_ADDRESS=http://localhost:8081');
    }
    for (const program of [
      await ask('/', '*/*'),
      await ask('/', 'application/json'),
      await ask('/api/v1/pools', html, 'POST'),
    ]) {
      expect(program.statusCode).toBe(401);
      expect(program.headers['content-type']).toContain('application/problem+json');
    }
  });

  it('asks every route for a token, and for its role, and lets the role in', async () => {
    const { api, call } = await apiWorld();
    const ask = (route: { method: string; path: string }, as?: (typeof ROLES)[number]) => {
      const options = { payload: '[]', headers: { 'content-type': 'application/json' } };
      const method = route.method as 'GET';
      if (as) return call(method, at(route.path), { ...options, as });
      return api.app.inject({ method, url: at(route.path), headers: { host: 'localhost' } });
    };
    const isOpen = ['/healthz', '/readyz', '/login', '/agent/install.sh', '/agent/:file'];

    // A stream that goes on would never end its answer here.
    for (const route of api.routes.filter((one) => !one.path.endsWith('/changes'))) {
      const name = `${route.method} ${route.path}`;
      const without = await ask(route);
      if (route.role === 'anyone') {
        expect(isOpen, name).toContain(route.path);
        continue;
      }
      expect(without.statusCode, name).toBe(401);
      expect(without.headers['www-authenticate'], name).toContain('Bearer');
      for (const role of ROLES) {
        const { statusCode } = await ask(route, role);
        const isRefused = statusCode === 403;
        expect(isRefused, `${name} as ${role}: ${statusCode}`).toBe(!isAtLeast(role, route.role));
        expect(statusCode, `${name} as ${role}`).not.toBe(401);
      }
    }
    expect(api.routes.length).toBeGreaterThan(35);
  });

  it('guards the stream of changes too', async () => {
    const { api } = await apiWorld();

    const answer = await api.app.inject({ url: '/api/v1/changes', headers: { host: 'localhost' } });

    expect(answer.statusCode).toBe(401);
  });

  it('changes nothing for a viewer', async () => {
    const { call, deps } = await apiWorld({ rows: [row('pools', poolWithSecret('gpu'))] });

    const answers = [
      await call('POST', '/api/v1/freeze', { as: 'viewer' }),
      await call('DELETE', '/api/v1/pools/gpu', { as: 'viewer' }),
      await call('POST', '/api/v1/sessions', { as: 'viewer', payload: { pool: 'gpu', command: ['true'] } }),
      await call('POST', '/api/v1/tokens', { as: 'operator', payload: { name: 'x', role: 'admin' } }),
      await call('POST', '/api/v1/login-links', { as: 'viewer', payload: { role: 'admin' } }),
    ];

    expect(answers.map((answer) => answer.statusCode)).toEqual([403, 403, 403, 403, 403]);
    expect(answers[0]?.json()).toMatchObject({ kind: 'denied', remedy: 'Use a token with the role operator.' });
    expect(deps.store.view.freezes.get(FLEET)).toBeUndefined();
    expect(deps.store.view.sessions.size).toBe(0);
  });

  it('tells no key, hash or token in any answer, nor in the log', async () => {
    const { api, call, deps, lines, tokens } = await apiWorld({ rows: [row('pools', poolWithSecret('gpu'))] });
    const planted = [
      ...[...deps.store.view.secrets.all()].filter(({ id }) => id !== 'ca-certificate').map(({ value }) => value),
      ...[...deps.store.view.tokens.all()].map(({ hash }) => hash),
      ...Object.values(tokens),
      'planted-secret',
    ];
    const told: string[] = [];

    for (const route of api.routes.filter((one) => one.method === 'GET' && !one.isStream)) {
      told.push((await call('GET', route.path.replace(/:\w+/g, 'gpu'))).body);
    }
    await call('GET', '/api/v1/pools', { headers: { authorization: 'Bearer mat_wrong-but-secret' } });

    const all = `${told.join('\n')}\n${JSON.stringify(lines)}`;
    for (const secret of [...planted, 'wrong-but-secret']) {
      expect(all.includes(secret) || all.includes(JSON.stringify(secret).slice(1, -1)), secret.slice(0, 30)).toBe(
        false,
      );
    }
    expect(planted.length).toBe(9);
  });

  it('does not show callers without a token which pages exist', async () => {
    const { api } = await apiWorld();
    const ask = async (method: 'GET' | 'OPTIONS' | 'PATCH', url: string) =>
      (await api.app.inject({ method, url, headers: { host: 'localhost' } })).statusCode;

    expect(await ask('GET', '/api/v1/nothing')).toBe(401);
    expect(await ask('GET', '/nothing')).toBe(401);
    expect(await ask('PATCH', '/api/v1/pools')).toBe(401);
    expect(await ask('OPTIONS', '/api/v1/pools')).toBe(401);
  });

  it('refuses more and more wrong tokens, but never the right one', async () => {
    const { api, call, clock } = await apiWorld();
    const guess = () =>
      api.app.inject({ url: '/api/v1/pools', headers: { host: 'localhost', authorization: 'Bearer mat_guess' } });

    const answers = [];
    for (let at = 0; at < 21; at++) answers.push(await guess());
    const right = await call('GET', '/api/v1/pools');
    await clock.advance(60_000);
    const later = await guess();

    expect(answers.slice(0, 20).every((answer) => answer.statusCode === 401)).toBe(true);
    expect(answers[20]?.statusCode).toBe(429);
    expect(answers[20]?.headers['retry-after']).toBe('60');
    expect(right.statusCode).toBe(200);
    expect(later.statusCode).toBe(401);
  });
});

describe('the Host header', () => {
  it.each([
    'localhost',
    'localhost:8081',
    '127.0.0.1:8081',
    '[::1]:8081',
    '127.9.9.9',
    'muster.example.org',
    'MUSTER.example.org.:1',
    '10.9.8.7:8081',
    '[fd00:0::7]:8081',
  ])('may be %s', async (host) => {
    const { call } = await apiWorld();

    expect((await call('GET', '/api/v1/pools', { headers: { host } })).statusCode).toBe(200);
  });

  it.each(['evil.example.org', 'localhost.evil.org', '10.9.8.8', '127.0.0.1.evil.org', '[fd00::8]'])(
    'may not be %s, even with a good token',
    async (host) => {
      const { call } = await apiWorld();

      const answer = await call('GET', '/api/v1/pools', { headers: { host } });

      expect(answer.statusCode).toBe(421);
      expect(answer.json()).toMatchObject({ kind: 'denied', at: 'headers.host' });
    },
  );

  it.each(['a b', 'user@localhost', 'localhost/x', '[::1', 'localhost:99999999'])(
    'is malformed as "%s"',
    async (host) => {
      const { call } = await apiWorld();

      expect((await call('GET', '/agent/install.sh', { headers: { host } })).statusCode).toBe(400);
    },
  );

  it('must be there', () => {
    expect(() => checkHost(undefined, [])).toThrow('missing');
    expect(() => checkHost('', [])).toThrow('missing');
  });

  it('does not matter to those who probe the health of the process', async () => {
    const { api } = await apiWorld();

    for (const url of ['/healthz', '/readyz']) {
      expect((await api.app.inject({ url, headers: { host: '10.244.0.17:8081' } })).statusCode).toBe(200);
    }
  });
});

describe('a browser', () => {
  async function loggedIn(host = 'localhost:8081') {
    const world = await apiWorld({ rows: [row('pools', poolWithSecret('gpu'))] });
    const { path } = (await world.call('POST', '/api/v1/login-links', { payload: { role: 'operator' } })).json<{
      path: string;
    }>();
    const answer = await world.api.app.inject({ url: path, headers: { host } });
    const cookie = String(answer.headers['set-cookie']).split(';')[0] ?? '';
    return { ...world, path, answer, cookie };
  }

  it('gets in by a link, once, with a cookie that no script and no other site can use', async () => {
    const { answer, api, path, cookie } = await loggedIn();

    const again = await api.app.inject({ url: path, headers: { host: 'localhost' } });
    const use = await api.app.inject({ url: '/api/v1/pools', headers: { host: 'localhost', cookie } });

    expect([answer.statusCode, answer.headers.location]).toEqual([303, '/']);
    expect(answer.headers['set-cookie']).toMatch(
      /^muster_session=mat_[\w-]+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200$/,
    );
    expect(again.statusCode).toBe(401);
    expect(use.statusCode).toBe(200);
  });

  it('is not used by other sites', async () => {
    const { api, cookie } = await loggedIn();
    const pause = async (headers: Record<string, string>) =>
      (
        await api.app.inject({
          method: 'POST',
          url: '/api/v1/pools/gpu/pause',
          headers: { host: 'localhost:8081', cookie, ...headers },
        })
      ).statusCode;

    expect(await pause({ origin: 'http://localhost:8081' })).toBe(200);
    expect(await pause({ 'sec-fetch-site': 'same-origin' })).toBe(200);
    expect(await pause({ origin: 'https://evil.example.org' })).toBe(403);
    expect(await pause({ origin: 'http://localhost:9999' })).toBe(403);
    expect(await pause({ origin: 'null' })).toBe(403);
    expect(await pause({ 'sec-fetch-site': 'cross-site' })).toBe(403);
    expect(await pause({ 'sec-fetch-site': 'same-site' })).toBe(403);
  });

  it('gets out again', async () => {
    const { api, cookie } = await loggedIn();
    const headers = { host: 'localhost', cookie };

    const out = await api.app.inject({ method: 'POST', url: '/logout', headers });
    const after = await api.app.inject({ url: '/api/v1/pools', headers });

    expect([out.statusCode, out.headers['set-cookie']]).toEqual([204, expect.stringContaining('Max-Age=0')]);
    expect(after.statusCode).toBe(401);
  });

  it('is offered nothing across origins', async () => {
    const { call } = await apiWorld();

    const preflight = await call('OPTIONS', '/api/v1/pools', { headers: { origin: 'https://evil.example.org' } });
    const get = await call('GET', '/api/v1/pools', { headers: { origin: 'https://evil.example.org' } });

    for (const { headers } of [preflight, get]) {
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
  });
});

it('a token with too many requests at once gets 429 with the remedy, and other tokens are answered', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const world = await apiWorld({ over: { requestsPerToken: 1 } });
  const begun = Promise.withResolvers<void>();
  world.deps.sessions.refer = async () => {
    begun.resolve();
    await promise;
    throw new Fault('missing', 'There is no session s1.');
  };
  const first = Promise.resolve(world.call('GET', '/api/v1/sessions/s1', { as: 'viewer' }));
  await begun.promise;

  const second = await world.call('GET', '/api/v1/sessions/s1', { as: 'viewer' });
  const other = await world.call('GET', '/api/v1/pools', { as: 'operator' });
  resolve();

  expect([second.statusCode, other.statusCode]).toEqual([429, 200]);
  expect(second.json()).toMatchObject({ remedy: expect.stringContaining('server.limits.requests_per_token') });
  expect((await first).statusCode).toBe(404);
  expect((await world.call('GET', '/api/v1/pools', { as: 'viewer' })).statusCode).toBe(200);
});

import { describe, expect, it } from 'vitest';
import { PAGE_POLICY } from './html.ts';
import { apiWorld } from './testing/world.ts';
import { DASHBOARD_POLICY } from './web-page.ts';

const BROWSER = { accept: 'text/html,application/xhtml+xml;q=0.9' };

describe('the dashboard', () => {
  it('is the answer to browsers at its root and at each of its paths, with its policy', async () => {
    const { call } = await apiWorld();

    for (const path of ['/', '/pools', '/pools/gpu', '/no/such/page']) {
      const page = await call('GET', path, { as: 'viewer', headers: BROWSER });
      expect([page.statusCode, page.headers['content-type']], path).toEqual([200, 'text/html; charset=utf-8']);
      expect(page.body).toContain('<script type="module" src="/assets/');
      expect(page.headers).toMatchObject({
        'content-security-policy': DASHBOARD_POLICY,
        'cross-origin-opener-policy': 'same-origin',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store',
      });
    }
    expect(DASHBOARD_POLICY).toBe(
      "default-src 'none'; script-src 'self'; connect-src 'self'; img-src 'self' data:; " +
        "style-src 'self' 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
  });

  it('leaves the API, the documentation and what programs ask for as they are', async () => {
    const { call } = await apiWorld();

    const root = await call('GET', '/', { as: 'viewer' });
    const unknown = await call('GET', '/pools', { as: 'viewer' });
    const inApi = await call('GET', '/api/v1/nothing', { as: 'viewer', headers: BROWSER });
    const docs = await call('GET', '/docs', { as: 'viewer', headers: BROWSER });

    expect([root.statusCode, root.headers.location]).toEqual([302, '/docs']);
    for (const answer of [unknown, inApi])
      expect([answer.statusCode, answer.json()]).toMatchObject([404, { kind: 'missing' }]);
    expect(docs.headers['content-security-policy']).toBe(PAGE_POLICY);
  });

  it('forbids each answer, of pages and of the API, to be framed, kept, or read as what it is not', async () => {
    const { call, api } = await apiWorld();
    const anonymous = (url: string, headers: Record<string, string>) =>
      api.app.inject({ url, headers: { host: 'localhost', ...headers } });

    const answers = [
      await call('GET', '/', { as: 'viewer', headers: BROWSER }),
      await call('GET', '/docs', { as: 'viewer', headers: BROWSER }),
      await call('GET', '/metrics', { as: 'viewer' }),
      await call('GET', '/openapi.json', { as: 'viewer' }),
      await call('GET', '/api/v1/pools', { as: 'viewer' }),
      await call('GET', '/api/v1/tokens', { as: 'viewer' }),
      await call('GET', '/api/v1/nothing', { as: 'viewer' }),
      await anonymous('/api/v1/pools', {}),
      await anonymous('/pools', BROWSER),
      await anonymous('/login?code=wrong', BROWSER),
    ];

    for (const { headers, raw, statusCode } of answers) {
      const policy = String(headers['content-security-policy']);
      expect([statusCode, policy], raw.req.url).toEqual([statusCode, expect.stringMatching(/^default-src 'none'/)]);
      expect(policy).toContain("frame-ancestors 'none'");
      expect(headers, raw.req.url).toMatchObject({
        'cross-origin-opener-policy': 'same-origin',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store',
      });
    }
  });

  it('asks a browser without a session to log in, whatever the path', async () => {
    const { api } = await apiWorld();

    for (const url of ['/', '/pools/gpu']) {
      const page = await api.app.inject({ url, headers: { host: 'localhost', ...BROWSER } });
      expect([page.statusCode, page.headers['content-security-policy']]).toEqual([401, PAGE_POLICY]);
      expect(page.body).toContain('Log in to Muster');
    }
  });

  it('sends its files packed and for ever to those that read gzip, and unpacked to others', async () => {
    const { call } = await apiWorld();

    const packed = await call('GET', '/assets/main-ABC.js', { as: 'viewer', headers: { 'accept-encoding': 'gzip' } });
    const plain = await call('GET', '/assets/main-ABC.js', { as: 'viewer' });

    expect(packed.headers).toMatchObject({
      'content-encoding': 'gzip',
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'private, max-age=31536000, immutable',
      vary: 'accept-encoding',
    });
    expect(plain.headers).not.toHaveProperty('content-encoding');
    expect(plain.body).toBe('document.title = "Muster";');
  });

  it('has only the files of its list, and its page not as one that lasts for ever', async () => {
    const { call } = await apiWorld();

    for (const name of ['gone-ABC.js', 'index.html', '..%2Fsecret', 'files.json']) {
      const answer = await call('GET', `/assets/${name}`, { as: 'viewer' });
      expect([answer.statusCode, answer.headers['cache-control']], name).toEqual([404, 'no-store']);
    }
  });
});

import fc from 'fast-check';
import type { InjectOptions } from 'fastify';
import { describe, expect, it } from 'vitest';
import { Fault } from '#core/fault.ts';
import type { Pool } from '#core/pool.ts';
import { poolWithSecret, row } from './testing/rows.ts';
import { apiWorld } from './testing/world.ts';
import { HttpProblem } from './wire/problem.ts';

const json = { 'content-type': 'application/json' };
const rows = [row('pools', poolWithSecret('gpu'))];

type Answer = { statusCode: number; headers: Record<string, unknown>; body: string };

/** A clear refusal: 4xx, problem+json, with a place and what to do. */
function expectRefused(answer: Answer, what: string): HttpProblem {
  expect(answer.statusCode, what).toBeGreaterThanOrEqual(400);
  expect(answer.statusCode, `${what}\n${answer.body}`).toBeLessThan(500);
  expect(answer.headers['content-type'], what).toMatch(/^application\/problem\+json/);
  const problem = HttpProblem.parse(JSON.parse(answer.body));
  expect(problem.at, what).toBeTruthy();
  expect(problem.remedy, what).toBeTruthy();
  expect(problem.status, what).toBe(answer.statusCode);
  return problem;
}

describe('malformed requests', () => {
  it.each<[string, InjectOptions, number, string]>([
    ['broken JSON', { method: 'POST', url: '/api/v1/sessions', payload: '{"pool":', headers: json }, 400, 'body'],
    ['no body', { method: 'POST', url: '/api/v1/sessions', headers: json }, 422, 'body'],
    ['no document', { method: 'POST', url: '/api/v1/pools' }, 422, 'body'],
    [
      'another kind of body',
      { method: 'POST', url: '/api/v1/sessions', payload: '<x/>', headers: { 'content-type': 'text/xml' } },
      415,
      'headers.content-type',
    ],
    [
      'YAML where JSON is wanted',
      { method: 'POST', url: '/api/v1/sessions', payload: 'a: b', headers: { 'content-type': 'application/yaml' } },
      415,
      'headers.content-type',
    ],
    [
      'a body without a kind',
      { method: 'POST', url: '/api/v1/sessions', payload: Buffer.from('{}'), headers: { 'content-type': '' } },
      415,
      'headers.content-type',
    ],
    [
      'a body too large',
      {
        method: 'POST',
        url: '/api/v1/tokens',
        payload: JSON.stringify({ name: 'x'.repeat(1_100_000) }),
        headers: json,
      },
      413,
      'body',
    ],
    ['an unknown page', { url: '/api/v1/nothing' }, 404, 'path'],
    ['a bad path', { url: '/api/v1/pools/%zz' }, 400, 'path'],
    ['a bad path', { url: '/api/v1/pools/%C3' }, 400, 'path'],
    ['a long name', { url: `/api/v1/pools/${'x'.repeat(600)}` }, 422, 'path.pool'],
    ['a very long name', { url: `/api/v1/pools/${'x'.repeat(3_000)}` }, 414, 'path'],
    ['another method', { method: 'PATCH', url: '/api/v1/pools' }, 405, 'method'],
    ['a head of a stream', { method: 'HEAD', url: '/api/v1/changes' }, 405, 'method'],
    ['an unknown key in the query', { url: '/api/v1/pools?limits=3' }, 422, 'query.limits'],
    ['a key where there is no query', { url: '/api/v1/pools/gpu?x=1' }, 422, 'query.x'],
    ['a key twice', { url: '/api/v1/pools?limit=3&limit=4' }, 422, 'query.limit'],
    ['too many', { url: '/api/v1/pools?limit=1001' }, 422, 'query.limit'],
    ['too many rows', { url: `/api/v1/changes?ids=${Array.from({ length: 201 }, (_, n) => n)}` }, 422, 'query.ids'],
    ['an unknown table', { url: '/api/v1/changes?tables=secrets' }, 422, 'query.tables'],
    [
      'an unknown key',
      { method: 'POST', url: '/api/v1/sessions', payload: { pool: 'gpu', comand: ['x'] } },
      422,
      'body.command',
    ],
    [
      'a wrong item',
      {
        method: 'POST',
        url: '/api/v1/sessions',
        payload: [
          { pool: 'gpu', command: ['x'] },
          { pool: 'gpu', command: [7] },
        ],
      },
      422,
      'body[1].command[0]',
    ],
    [
      'a zero byte',
      { method: 'POST', url: '/api/v1/sessions', payload: { pool: 'gpu', command: ['a\0b'] } },
      422,
      'body.command[0]',
    ],
    [
      'no program',
      { method: 'POST', url: '/api/v1/sessions', payload: { pool: 'gpu', command: [''] } },
      422,
      'body.command[0]',
    ],
    [
      'a bad name in the environment',
      { method: 'POST', url: '/api/v1/sessions', payload: { pool: 'gpu', command: ['x'], env: { 'A=B': 'c' } } },
      422,
      'body.env["A=B"]',
    ],
    [
      'a bad duration',
      { method: 'POST', url: '/api/v1/sessions', payload: { pool: 'gpu', command: ['x'], timeout: '5 minutes' } },
      422,
      'body.timeout',
    ],
    [
      'both uses of a token',
      { method: 'POST', url: '/api/v1/tokens', payload: { name: 'x', role: 'admin', join: 'gpu' } },
      422,
      'body.',
    ],
    [
      'an unknown role',
      { method: 'POST', url: '/api/v1/tokens', payload: { name: 'x', role: 'root' } },
      422,
      'body.role',
    ],
  ])('%s', async (name, { method, url, ...more }, status, place) => {
    const { call, deps } = await apiWorld({ rows });

    const answer = await call(method, String(url), more);

    expect(answer.statusCode, answer.body).toBe(status);
    if (method === 'HEAD') return;
    expect(expectRefused(answer, name).at).toContain(place);
    expect(deps.store.view.sessions.size).toBe(0);
  });

  it('with an empty name say that it is empty', async () => {
    const { call } = await apiWorld({ rows });

    const session = await call('POST', '/api/v1/sessions', { payload: { pool: '', command: ['x'] } });
    const pool = await call('GET', '/api/v1/pools/');

    expect(session.json().detail).toBe('body.pool: Must not be empty.');
    expect(pool.json().detail).toBe('path.pool: Must not be empty.');
  });

  it('with keys that mean something to JavaScript do no harm', async () => {
    const { call, disk } = await apiWorld({ rows });
    const post = (payload: string) => call('POST', '/api/v1/sessions', { payload, headers: json });

    const outside = await post('{"pool":"gpu","command":["x"],"__proto__":{"stdin":true}}');
    const inside = await post('{"pool":"gpu","command":["x"],"env":{"__proto__":"y","constructor":"z"}}');

    expectRefused(outside, 'outside');
    expect(inside.statusCode).toBe(201);
    const [kept] = [...(disk.rows.get('sessions')?.values() ?? [])] as { spec: { env: Record<string, string> } }[];
    expect(Object.entries(kept?.spec.env ?? {})).toContainEqual(['constructor', 'z']);
    expect(Object.getPrototypeOf(kept?.spec.env)).toBe(Object.prototype);
  });

  it('names the key that was meant', async () => {
    const { call } = await apiWorld({ rows });

    const answer = await call('POST', '/api/v1/sessions', { payload: { pool: 'gpu', command: ['x'], priorty: 1 } });

    expect(answer.json<HttpProblem>().detail).toBe('body.priorty: Unknown key. Did you mean priority?');
  });

  it('generated for every route that takes something are refused with a place, and none applies', async () => {
    const { api, call, deps } = await apiWorld({ rows });
    const taking = api.routes.filter((route) => route.body && !route.bodyMedia);
    const asking = api.routes.filter(
      (route) =>
        route.query &&
        !route.isStream &&
        route.method === 'GET' &&
        !route.path.includes(':') &&
        route.role !== 'anyone',
    );
    // Whatever it is, it is none of what any route takes.
    const wrongBody = fc.oneof(
      fc.jsonValue().filter((value) => typeof value !== 'object' || value === null || Array.isArray(value)),
      fc.dictionary(
        fc.string({ minLength: 1 }).map((key) => `x${key}`),
        fc.jsonValue(),
        { minKeys: 1 },
      ),
      fc.record({
        pool: fc.constant('gpu'),
        command: fc.oneof(fc.string(), fc.integer(), fc.constant([]), fc.array(fc.integer(), { minLength: 1 })),
      }),
      fc.record({ name: fc.oneof(fc.constant(''), fc.integer(), fc.constant(null)), role: fc.jsonValue() }),
    );
    const wrongQuery = fc.oneof(
      fc.tuple(
        fc.constant('limit'),
        fc.oneof(fc.constant('-1'), fc.constant('1e9'), fc.constant('NaN'), fc.constant('x'), fc.constant('1.5')),
      ),
      fc.tuple(
        fc.string({ minLength: 1 }).map((key) => `x${key}`),
        fc.string(),
      ),
    );
    let tried = 0;

    for (const route of taking) {
      await fc.assert(
        fc.asyncProperty(wrongBody, async (body) => {
          const payload = JSON.stringify(body) ?? 'x';
          expectRefused(
            await call(route.method, route.path.replace(/:\w+/g, 'gpu'), { payload, headers: json }),
            `${route.path} ${payload}`,
          );
          tried += 1;
        }),
        { numRuns: 40, seed: 1 },
      );
    }
    for (const route of asking) {
      await fc.assert(
        fc.asyncProperty(wrongQuery, async ([key, value]) => {
          const url = `${route.path}?${new URLSearchParams({ [key]: value })}`;
          expectRefused(await call('GET', url), url);
          tried += 1;
        }),
        { numRuns: 20, seed: 1 },
      );
    }

    expect(tried).toBeGreaterThan(300);
    expect(deps.store.view.sessions.size).toBe(0);
    expect(deps.store.view.freezes.size).toBe(0);
    expect(deps.store.view.tokens.size).toBe(3);
  });

  it('in text of any kind never make the server fail', async () => {
    const { call, lines } = await apiWorld({ rows });

    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', minLength: 1, maxLength: 200 }), async (text) => {
        expectRefused(await call('POST', '/api/v1/sessions', { payload: text, headers: json }), text);
        const path = await call('GET', `/api/v1/pools/${encodeURIComponent(text.toWellFormed())}x`);
        expectRefused(path, text);
      }),
      { numRuns: 100, seed: 2 },
    );

    expect(lines.filter((line) => line.level === 'error')).toEqual([]);
  });
});

describe('failures', () => {
  it('of ours tell the client nothing but where to look, and no answer tells a secret', async () => {
    const over = {
      workers: {
        plan: () => {
          throw new TypeError('planted-secret of a bug');
        },
        foresee: () => {
          throw new TypeError('planted-secret of a bug');
        },
        drain: () =>
          Promise.reject(new Fault('unavailable', 'The cloud said planted-secret.', { retryAfterMs: 1_500 })),
        release: () => Promise.reject(new Fault('internal', 'x')),
        freeze: () => Promise.reject(new Fault('internal', 'x')),
        thaw: async () => {},
        trouble: () => undefined,
        troubled: () => new Map(),
        bootWait: () => undefined,
        limits: ({ spec }: Pool) => ({ scaling: spec.scaling }),
      },
    };
    const { call, lines } = await apiWorld({
      rows: [...rows, row('workers', { id: 'm', pool: 'p-gpu', machine: 'm', askedAt: 0 })],
      over,
    });

    const bug = await call('GET', '/api/v1/pools/gpu/plan');
    const outage = await call('POST', '/api/v1/workers/m/drain');

    expect(bug.statusCode).toBe(500);
    expect(bug.json<HttpProblem>().detail).toMatch(/^Internal server error\. Find it in the log by req-/);
    expect(lines).toMatchObject([{ level: 'error', message: 'request failed' }]);
    expect([outage.statusCode, outage.headers['retry-after']]).toEqual([503, '2']);
    expect(outage.json<HttpProblem>().detail).toBe('The cloud said [hidden].');
  });

  it('say what a path takes instead', async () => {
    const { call } = await apiWorld();

    const wrong = await call('DELETE', '/api/v1/sessions');
    const options = await call('OPTIONS', '/api/v1/sessions');
    const head = await call('HEAD', '/api/v1/pools');

    expect([wrong.statusCode, wrong.headers.allow]).toEqual([405, 'POST, GET, HEAD, OPTIONS']);
    expect([options.statusCode, options.headers.allow, options.body]).toEqual([204, 'POST, GET, HEAD, OPTIONS', '']);
    expect([head.statusCode, head.body, Number(head.headers['content-length']) > 0]).toEqual([200, '', true]);
  });
});

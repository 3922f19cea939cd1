import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { systemClock } from '#core/clock.ts';
import type { Computers, ShownComputer } from '#core/computer.ts';
import type { Forecasts } from '#core/forecast.ts';
import type { ImageBuild, ImageRecord, Images } from '#core/image.ts';
import type { HostStatus, Runtime, Runtimes } from '#core/runtime.ts';
import { append } from '#core/store.ts';
import { type OpenApi, openApi } from './openapi.ts';
import { route } from './route.ts';
import { budgetsOfThese, someBudget } from './testing/budgets.ts';
import { shadowOfPool, someForecast } from './testing/forecast.ts';
import { nodesOfOne } from './testing/nodes.ts';
import { anAgent, aSession, aWorker, poolWithSecret, row } from './testing/rows.ts';
import { apiWorld } from './testing/world.ts';

/** Every `$ref` in a document, with where it stands. */
function* refs(value: unknown, path = '#'): Iterable<{ ref: string; path: string }> {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    if (key === '$ref' && typeof inner === 'string') yield { ref: inner, path };
    else yield* refs(inner, `${path}/${key}`);
  }
}

const GRANT = { host: 'http://h', audience: 'http://a', dataDir: '/d', cpu: 1, memoryGb: 4, storageBytes: 5 };

const aRuntime: Runtime = {
  id: 'r',
  provisioner: 'p',
  slots: 1,
  environment: 'prod',
  annotations: { org: 'acme' },
  createdAt: 1,
  since: 2,
  wanted: 'running',
  phase: 'ready',
  grant: GRANT,
};

const aHost: HostStatus = {
  host: 'http://h',
  provisioners: ['p'],
  slots: 5,
  used: 1,
  isDrained: false,
  runtimes: ['r'],
};

const aFailure = { kind: 'quota', message: 'm', remedy: 'r', at: 1 } as const;
const aComputer: ShownComputer = {
  computer: {
    ...{ id: 'c1', name: 'dev', platform: 'aws', offer: { id: 'o', kind: 'process', config: {} }, port: 8_000 },
    ...{ timeoutMs: 1_000, maxRetries: 3, createdAt: 1, by: 'x', token: 't', endsAt: 2, runningAt: 1, refusals: 1 },
    ...{ refused: { ...aFailure, retryAt: 2 }, failure: aFailure },
  },
  ...{ status: 'error', isAgentHere: false, endpoints: [{ host: 'h', port: 1 }], awaySince: 1, why: 'w' },
  machine: { id: 'm', computer: 'c1', machine: 'm', askedAt: 1, createdAt: 1, joinedAt: 1 },
  listed: {
    ...{ name: 'm', mark: undefined, createdAt: 1, state: 'running' },
    trouble: { kind: 'quota', message: 't', final: false },
  },
};
const someComputers = {
  find: () => aComputer,
  list: () => [aComputer],
  offered: () => ({
    platforms: [{ name: 'aws', about: 'a', needsAdmin: false, options: [{ name: 'n', about: 'a', default: 'd' }] }],
    templates: [{ name: 't', platform: 'aws' }],
  }),
} as unknown as Computers;

const BUILD: ImageBuild = {
  ...{ id: 'b1', image: 'muster-agent:1.2.0', builder: 'docker', cloud: 'docker:x', host: 'h', version: '1.2.0' },
  ...{ recipe: 'r', outcome: 'failed', error: 'e', startedAt: 1, endedAt: 2, by: 'x' },
};
const IMAGE: ImageRecord = {
  ...{ id: 'i1', name: 'muster-agent', version: '1.2.0', reference: 'muster-agent:1.2.0', recipe: 'r', build: 'b1' },
  ...{ ids: { '': 'sha256:1' }, builder: 'docker', cloud: 'docker:x', host: 'h', builtAt: 1, by: 'x' },
};

describe('OpenAPI', () => {
  it('describes every route, and every reference leads somewhere', async () => {
    const { call, api } = await apiWorld();

    const document = (await call('GET', '/openapi.json')).json<OpenApi>();

    expect(document.openapi).toBe('3.1.0');
    for (const route of api.routes) {
      const operation = document.paths[route.path.replace(/:(\w+)/g, '{$1}')]?.[route.method.toLowerCase()];
      const name = `${route.method} ${route.path}`;
      expect(operation?.summary, name).toBe(route.summary);
      const inPath = [...route.path.matchAll(/:(\w+)/g)].map((match) => match[1]);
      const parameters = operation?.parameters ?? [];
      expect(
        parameters.filter((one) => one.in === 'path').map((one) => one.name),
        name,
      ).toEqual(inPath);
      const { default: _, ...answers } = operation?.responses ?? {};
      const statuses = [route.status ?? 200, ...(route.alsoStatus === undefined ? [] : [route.alsoStatus])];
      expect(Object.keys(answers).toSorted(), name).toEqual(statuses.map(String).toSorted());
      expect(operation?.requestBody !== undefined, name).toBe(route.body !== undefined);
      expect(operation?.security?.length === 0, name).toBe(route.role === 'anyone');
    }
    const { schemas } = document.components;
    for (const { ref, path } of refs(document)) {
      expect(ref, path).toMatch(/^#\/components\/schemas\/\w+$/);
      expect(schemas, path).toHaveProperty(ref.split('/').at(-1) ?? '');
    }
    const ids = Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).map((one) => one.operationId),
    );
    expect(new Set(ids).size).toBe(ids.length);
    expect(Object.keys(schemas)).toEqual(expect.arrayContaining(['Pool', 'Session', 'SessionIn', 'Worker', 'Problem']));
    expect(JSON.stringify(document)).not.toContain('$defs');
  });

  it('names every status that a write may answer with, and how to join a session again', async () => {
    const { call } = await apiWorld();

    const { paths } = (await call('GET', '/openapi.json')).json<OpenApi>();

    const statuses = (path: string, method: string) => Object.keys(paths[path]?.[method]?.responses ?? {});
    expect(statuses('/api/v1/pools', 'post')).toEqual(['200', '201', 'default']);
    expect(statuses('/api/v1/pools/{pool}', 'put')).toEqual(['200', '201', 'default']);
    expect(statuses('/api/v1/sources/{source}/sync', 'post')).toEqual(['200', '202', 'default']);
    const attach = paths['/api/v1/sessions/{session}/attach']?.get?.parameters.map(({ name }) => name);
    expect(attach).toEqual(['session', 'attempt', 'after_seq']);
  });

  it('tells the truth: answers are as described', async () => {
    const gpu = poolWithSecret('gpu', { pausedAt: 1, removal: { at: 1, deadlineAt: 2, why: 'w' } });
    const { call, api } = await apiWorld({
      rows: [
        row('pools', gpu),
        row('workers', aWorker('m', gpu.id, { drain: { at: 1, why: 'w' }, removal: { at: 1, why: 'w' } })),
        row('agents', anAgent('m', gpu.id)),
        row('sessions', aSession('s', gpu, { worker: 'm', kill: { at: 1, by: 'x', force: true } })),
        row('sources', { id: 'f', kind: 'file', fault: { kind: 'invalid', message: 'm', at: 1 } }),
        row('freezes', { id: 'fleet', at: 1, why: 'w', by: 'x', automatic: true }),
        row('runtimes', aRuntime),
        row('images', IMAGE),
        append('imageBuilds', BUILD),
        append('events', { id: 'e1', at: 1, kind: 'k', subject: 's', who: 'w', from: 'f', message: 'm' }),
        append('decisions', { id: 'd1', at: 1, subject: 'pool/gpu', did: 'nothing', why: 'w', facts: {} }),
      ],
      over: {
        features: {
          runtimes: { hosts: () => [aHost] } as unknown as Runtimes,
          budgets: budgetsOfThese(someBudget),
          foresight: {
            shadowOf: (id: string) => ({ shadow: shadowOfPool(id), forecast: someForecast, problem: 'Too many.' }),
          } as unknown as Forecasts,
          computers: someComputers,
          nodes: nodesOfOne,
          images: { logOf: async () => 'said' } as unknown as Images,
        },
      },
    });
    const names: Record<string, string> = {
      ':pool': 'gpu',
      ':worker': 'm',
      ':session': 's',
      ':source': 'f',
      ':runtime': 'r',
      ':budget': 'ml',
      ':computer': 'dev',
      ':provisioner': 'h100',
      ':namespace': 'ml',
      ':pod': 'p',
      ':build': 'b1',
      ':decision': 'd1',
      ':event': 'e1',
    };
    const told = api.routes.filter((route) => route.method === 'GET' && !route.media && route.path !== '/openapi.json');

    for (const route of told) {
      const answer = await call(
        'GET',
        route.path.replace(/:\w+/g, (name) => names[name] ?? ''),
      );
      expect(answer.statusCode, route.path).toBe(200);
      // Strict: an answer must not hold what its schema does not know.
      const result = strict(route.reply).safeParse(answer.json());
      expect(result.error?.issues, route.path).toBeUndefined();
    }
    expect(told.length).toBeGreaterThan(14);
  });

  it('is shown to people on a page that loads nothing', async () => {
    const { call } = await apiWorld();

    const page = await call('GET', '/docs', { as: 'viewer' });

    expect(page.headers['content-type']).toContain('text/html');
    expect(page.headers['content-security-policy']).toContain("default-src 'none'");
    expect(page.body).toContain('<code>/api/v1/pools/{pool}/why</code>');
    expect(page.body).toContain('<a href="#schema-Pool">Pool</a>');
    expect(page.body).not.toMatch(/<script|src=|https?:\/\//);
  });

  it('is described there in words, and every link of the page leads somewhere in it', async () => {
    const { call, api } = await apiWorld();

    const { body } = await call('GET', '/docs', { as: 'viewer' });

    const ids = new Set(Array.from(body.matchAll(/ id="([^"]+)"/g), ([, id]) => id));
    const links = Array.from(body.matchAll(/ href="#([^"]+)"/g), ([, id]) => id);
    expect(links.filter((link) => !ids.has(link))).toEqual([]);
    expect(links).toEqual(expect.arrayContaining(['sessions', 'schemas', 'schema-Problem']));
    expect(body).not.toMatch(/\$ref|&quot;type&quot;|undefined|\[object/);
    expect(body).toContain('<td>whole number from 1 to 1000</td><td><code>100</code></td>');
    expect(body).toContain('Answers 200: { items: list of <a href="#schema-Pool">Pool</a>, next: text }.');
    for (const { summary } of api.routes) expect(body).toContain(summary.split('`')[0]);
  });
});

/** The same schema, but every object refuses unknown keys. */
function strict(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodObject) {
    return z.strictObject(
      Object.fromEntries(Object.entries(schema.shape).map(([key, inner]) => [key, strict(inner as z.ZodType)])),
    );
  }
  if (schema instanceof z.ZodOptional) return strict(schema.unwrap() as z.ZodType).optional();
  if (schema instanceof z.ZodArray) return z.array(strict(schema.element as z.ZodType));
  return schema;
}

it('the document is made in slices: its first reader does not stall other requests', async () => {
  let nowMs = 0;
  let turns = 0;
  const clock = {
    ...systemClock,
    monotonic: () => (nowMs += 10),
    soon(run: () => void) {
      turns += 1;
      queueMicrotask(run);
    },
  };
  const routes = ['/a', '/b', '/c'].map((path) =>
    route({ method: 'GET', path, role: 'viewer', summary: 'x', reply: z.object({}), handle: () => ({}) }),
  );

  const { paths } = await openApi(routes, '1', clock);

  expect(Object.keys(paths).slice(0, 3)).toEqual(['/a', '/b', '/c']);
  expect(turns).toBe(3);
});

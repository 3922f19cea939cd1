import { describe, expect, it } from 'vitest';
import { append } from '#core/store.ts';
import { aPool } from '#core/testing/pool.ts';
import { anAgent, aSession, aWorker, poolWithSecret, row } from './testing/rows.ts';
import { apiWorld } from './testing/world.ts';
import type { EventList } from './wire/event.ts';
import type { ServerStatus } from './wire/server.ts';
import type { Source, SourceDocumentList, SourceList, SourceSync } from './wire/source.ts';
import type { NewToken, TokenList } from './wire/token.ts';
import type { Worker, WorkerList } from './wire/worker.ts';

const gpu = poolWithSecret('gpu');

describe('workers', () => {
  it('are listed by pool and phase, shown with agent and sessions, and drained', async () => {
    const { call } = await apiWorld({
      rows: [
        row('pools', gpu),
        row('offers', { id: 'o1', kind: 'process', config: {} }),
        row('workers', aWorker('m-b', gpu.id, { createdAt: 1, joinedAt: 2 })),
        row('workers', aWorker('m-a', gpu.id)),
        row('workers', aWorker('m-c', 'p-other', { joinedAt: 1 })),
        row('agents', anAgent('m-b', gpu.id, 2)),
        row('sessions', aSession('s1', gpu, { worker: 'm-b' })),
      ],
    });
    const list = async (query: string) =>
      (await call('GET', `/api/v1/workers?${query}`))
        .json<WorkerList>()
        .items.map(({ name, phase }) => `${name} ${phase}`);

    expect(await list('')).toEqual(['m-a launching', 'm-b busy', 'm-c lost']);
    expect(await list('pool=gpu')).toEqual(['m-a launching', 'm-b busy']);
    expect(await list('phase=busy')).toEqual(['m-b busy']);
    expect((await call('GET', '/api/v1/workers?pool=none')).statusCode).toBe(404);
    expect((await call('GET', '/api/v1/workers/m-b')).json<Worker>()).toMatchObject({
      backend: 'process',
      sessions: ['s1'],
      agent: { slots: 2, free_slots: 1, hostname: 'host' },
    });
    expect((await call('POST', '/api/v1/workers/m-b/drain')).json<Worker>().phase).toBe('draining');
    expect((await call('POST', '/api/v1/workers/m-x/drain')).statusCode).toBe(404);
  });

  it('come in pages that end', async () => {
    const rows = Array.from({ length: 25 }, (_, at) =>
      row('workers', aWorker(`m-${String(at).padStart(2, '0')}`, 'p')),
    );
    const { call } = await apiWorld({ rows: rows.toReversed() });
    const seen: string[] = [];

    for (let after: string | undefined, more = true; more; ) {
      const page = (await call('GET', `/api/v1/workers?limit=10${after ? `&after=${after}` : ''}`)).json<WorkerList>();
      seen.push(...page.items.map((worker) => worker.name));
      after = page.next;
      more = after !== undefined;
    }

    expect(seen).toHaveLength(25);
    expect(seen).toEqual(seen.toSorted());
  });
});

describe('events', () => {
  it('are filtered and paged, and name the pool', async () => {
    const event = (id: string, kind: string, pool?: string) =>
      append('events', { id, at: 0, kind, subject: 'pool/gpu', pool, who: 'muster', from: 'itself', message: 'm' });
    const { call } = await apiWorld({
      rows: [
        row('pools', gpu),
        event('x1', 'pool.created', gpu.id),
        event('x2', 'worker.lost', gpu.id),
        event('x3', 'other'),
      ],
    });
    const list = async (query: string) => (await call('GET', `/api/v1/events?${query}`)).json<EventList>();

    const first = await list('limit=1&pool=gpu');
    const second = await list(`limit=1&pool=gpu&after=${first.next}`);

    expect(first.items).toMatchObject([{ id: 'x2', kind: 'worker.lost', pool: 'gpu' }]);
    expect(second).toMatchObject({ items: [{ id: 'x1' }] });
    expect((await list('kind=other')).items).toHaveLength(1);
    expect((await list('kind=pool.created&order=oldest')).items.map(({ id }) => id)).toEqual(['x1']);
    expect((await call('GET', '/api/v1/events/x2')).json()).toMatchObject({ id: 'x2', kind: 'worker.lost' });
    expect((await call('GET', '/api/v1/events/x9')).json()).toMatchObject({
      ...{ kind: 'missing', at: 'path.event', remedy: expect.stringContaining('muster event ls') },
    });
  });
});

describe('sources', () => {
  it('are shown with what is wrong, synced and approved', async () => {
    const id = 'aws:us-west-2:/velda/pools/';
    const fault = { kind: 'invalid', message: 'No name.', place: 'line 1' } as const;
    const { call, pools } = await apiWorld({
      rows: [
        row('sources', { id, kind: 'aws', lastGoodAt: 0, held: { at: 0, why: 'Half would go.', keys: ['a', 'b'] } }),
        row('documents', { id: `${id}\na`, source: id, key: 'ml/a', version: '1', readAt: 1_000, missed: 0 }),
        row('documents', { id: `${id}\nb`, source: id, key: 'b', version: '1', missed: 0, fault }),
      ],
    });
    const path = `/api/v1/sources/${encodeURIComponent(id)}`;

    const source = (await call('GET', path)).json<Source>();
    const documents = (await call('GET', `${path}/documents`)).json<SourceDocumentList>();
    const faulty = (await call('GET', `${path}/documents?faulty=1`)).json<SourceDocumentList>();
    const asked = await call('POST', `${path}/sync`);
    const waited = await call('POST', `${path}/sync?wait`);
    const approved = (await call('POST', `${path}/approve`)).json<Source>();

    expect(source).toMatchObject({ documents: 2, faulty_documents: 1, held: { keys: ['a', 'b'] } });
    expect(documents.items[1]).toMatchObject({ team: 'ml', version: '1', read_at: '1970-01-01T00:00:01.000Z' });
    expect(faulty.items).toMatchObject([{ key: 'b', fault: { place: 'line 1' } }]);
    expect(pools.asked).toEqual([id, id]);
    expect([asked.statusCode, asked.json<SourceSync>().outcome]).toEqual([202, undefined]);
    expect([waited.statusCode, waited.json<SourceSync>().outcome?.created]).toEqual([200, ['new']]);
    expect(approved.held).toBeUndefined();
  });
});

it('a source says which backends of its pools have no price, from their cloud or from the pool', async () => {
  const [none, set, given, other] = [
    { id: 'o1', kind: 'unpriced', config: {} },
    { id: 'o2', kind: 'unpriced', config: {} },
    { id: 'o3', kind: 'priced', config: {} },
    { id: 'o4', kind: 'other', config: {} },
  ] as const;
  const owner = { source: 'team', key: 'k', version: '1' };
  const poolOf = (id: string, spec: object) => row('pools', aPool({}, { name: id, ...spec }, { id, owner }));
  const { call } = await apiWorld({
    rows: [
      row('sources', { id: 'team', kind: 'gcs' }),
      poolOf('a', { offers: [none, given, other] }),
      poolOf('b', { offers: [none, set] }),
      poolOf('c', { offers: [set, given], terms: { o2: { pricePerHour: 2 } } }),
    ],
  });

  const shown = (await call('GET', '/api/v1/sources/team')).json<Source>();
  const listed = (await call('GET', '/api/v1/sources')).json<SourceList>().items;

  expect(shown.without_prices).toEqual([
    { backend: 'other', pools: 1 },
    { backend: 'unpriced', pools: 2 },
  ]);
  expect(listed.map(({ without_prices }) => without_prices)).toEqual([undefined, shown.without_prices]);
});

it('a mistyped source is answered with the one that was meant', async () => {
  const { call } = await apiWorld({ rows: [row('sources', { id: 'team', kind: 'file' })] });

  expect((await call('GET', '/api/v1/sources/tema')).json()).toMatchObject({ remedy: 'Did you mean team?' });
  expect((await call('GET', '/api/v1/sources/other')).json()).toMatchObject({
    remedy: 'List sources with `muster source ls`.',
  });
});

describe('the source of the API', () => {
  it('is listed, but not read: the answer says how it is written', async () => {
    const { call } = await apiWorld();

    const answers = [
      await call('POST', '/api/v1/sources/api/sync'),
      await call('POST', '/api/v1/sources/api/sync?wait'),
    ];

    for (const answer of answers) {
      expect(answer.statusCode).toBe(422);
      expect(answer.json()).toMatchObject({ remedy: 'Write pools with `muster pool apply`.' });
    }
  });
});

describe('tokens', () => {
  it.each(['0', '0s', 0])('that expire after %j are refused, with the way to one that never does', async (expires) => {
    const { call } = await apiWorld();

    const answer = await call('POST', '/api/v1/tokens', {
      payload: { name: 'x', role: 'viewer', expires_in: expires },
    });

    expect(answer.statusCode).toBe(422);
    expect(answer.json().remedy).toContain('leave it out for a token that never expires');
  });

  it('are shown once, listed without their texts, work, and are revoked', async () => {
    const { call, api, clock } = await apiWorld({ rows: [row('pools', gpu)] });

    const made = (
      await call('POST', '/api/v1/tokens', { payload: { name: 'ci', role: 'viewer', expires_in: '1h' } })
    ).json<NewToken>();
    const join = (await call('POST', '/api/v1/tokens', { payload: { name: 'j', join: 'gpu' } })).json<NewToken>();
    const list = await call('GET', '/api/v1/tokens');
    const use = () =>
      api.app.inject({ url: '/api/v1/pools', headers: { host: 'localhost', authorization: `Bearer ${made.token}` } });
    const before = (await use()).statusCode;
    const revoked = await call('DELETE', `/api/v1/tokens/${made.id}`);
    const after = (await use()).statusCode;

    expect(join).toMatchObject({ join: 'gpu' });
    expect(join.token).toMatch(/^mjt_/);
    expect(made.expires_at).toBe(new Date(clock.now() + 3_600_000).toISOString());
    expect(list.json<TokenList>().items.map(({ name }) => name)).toEqual(['viewer', 'operator', 'admin', 'ci', 'j']);
    expect(list.body).not.toContain(made.token.slice(4));
    expect([before, revoked.statusCode, after]).toEqual([200, 200, 401]);
  });

  it('of agents are certificates where a pool wants them', async () => {
    const { call, deps } = await apiWorld();

    const answer = (await call('POST', '/api/v1/agent-certificates', { payload: { name: 'gpu' } })).json();

    expect(answer).toMatchObject({ name: 'gpu', ca: deps.access.ca.certificate });
    expect(answer.certificate).toContain('BEGIN CERTIFICATE');
  });
});

describe('the server', () => {
  it('says what it is', async () => {
    const { call, clock, deps } = await apiWorld({ rows: [row('pools', gpu), row('sessions', aSession('s', gpu))] });
    await clock.advance(61_000);

    const status = (await call('GET', '/api/v1/server')).json<ServerStatus>();

    expect(status).toMatchObject({
      pid: 42,
      epoch: 1,
      store: 'memory',
      version: '0.1.0',
      uptime: '1m1s',
      ready: true,
      address: '127.0.0.1:8081',
      addresses: { http: '127.0.0.1:8081' },
      ca_fingerprint: deps.access.ca.fingerprint,
      counts: { pools: 1, sessions: { queued: 1 } },
    });
  });

  it('hands out the agent with its checksum, and nothing else', async () => {
    const { api } = await apiWorld();
    const get = (url: string) => api.app.inject({ url, headers: { host: 'muster.example.org:8081' } });

    const script = await get('/agent/install.sh');
    const archive = await get('/agent/muster-agent-linux-x64.tgz');
    const checksum = await get('/agent/muster-agent-linux-x64.tgz.sha256');

    expect(script.body).toContain('http://muster.example.org:8081');
    expect([archive.body, archive.headers['x-checksum-sha256']]).toEqual(['an agent', 'ab'.repeat(32)]);
    expect(checksum.body).toBe(`${'ab'.repeat(32)}  muster-agent-linux-x64.tgz\n`);
    for (const url of [
      '/agent/../admin.token',
      '/agent/%2e%2e%2fadmin.token',
      '/agent/..%2fadmin.token',
      '/agent/%2e%2e/admin.token',
      '/agent/....//admin.token',
      '/agent/..%5cadmin.token',
      '/agent/x%00',
      '/agent/.hidden',
      '/agent/%2fetc%2fpasswd',
    ]) {
      expect((await get(url)).statusCode, url).toBeOneOf([401, 404, 422]);
    }
  });
});

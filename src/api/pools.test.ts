import { describe, expect, it } from 'vitest';
import { poolSubject } from '#core/reason.ts';
import { append } from '#core/store.ts';
import { anAgent, aSession, aWorker, poolWithSecret, row } from './testing/rows.ts';
import { apiWorld } from './testing/world.ts';
import type { Plan, Pool, PoolList, Why } from './wire/pool.ts';

const gpu = poolWithSecret('gpu');
const yaml = { 'content-type': 'application/yaml' };

describe('pools', () => {
  it('shows a pool with the figures of its workers and sessions, and without its secrets', async () => {
    const busy = aWorker('m-1', gpu.id, { createdAt: 1, joinedAt: 2 });
    const { call } = await apiWorld({
      rows: [
        row('pools', gpu),
        row('workers', busy),
        row('workers', aWorker('m-2', gpu.id, { createdAt: 1 })),
        row('agents', anAgent('m-1', gpu.id, 4)),
        row('sessions', aSession('s1', gpu, { worker: 'm-1', startedAt: 1 })),
        row('sessions', aSession('s2', gpu)),
      ],
    });

    const answer = await call('GET', '/api/v1/pools/gpu', { as: 'viewer' });

    const pool = answer.json<Pool>();
    expect(answer.headers.etag).toBe('"1"');
    expect(pool).toMatchObject({
      name: 'gpu',
      phase: 'active',
      workers: { total: 2, busy: 1, booting: 1, idle: 0 },
      slots: { total: 4, free: 3 },
      sessions: { queued: 1, placed: 1 },
      auto_scaler: { max_agents: 5, idle_decay: '1m' },
      created_at: '2026-01-01T00:00:00.000Z',
    });
    expect(pool.backends).toEqual([{ id: 'o1', kind: 'process', config: { apiToken: '[hidden]', plain: 'shown' } }]);
    expect(answer.body).not.toContain('planted-secret');
  });

  it.each(['viewer', 'operator', 'admin'] as const)(
    'shows the configuration of a backend as a %s may see it',
    async (as) => {
      const over = { redactConfig: (_kind: string, _config: object, role: string) => ({ for: role }) };
      const { call } = await apiWorld({ rows: [row('pools', gpu)], over });

      const one = (await call('GET', '/api/v1/pools/gpu', { as })).json<Pool>();
      const all = (await call('GET', '/api/v1/pools', { as })).json<PoolList>();

      expect([one, ...all.items].map(({ backends }) => backends[0]?.config)).toEqual([{ for: as }, { for: as }]);
    },
  );

  it('shows what the next pass would do without secrets, though a cloud repeats them in its failures', async () => {
    const { call, deps } = await apiWorld({ rows: [row('pools', gpu)] });
    Object.assign(deps.workers, {
      plan: () => ({
        actions: [{ do: 'remove', worker: 'm-1', why: 'refused planted-secret' }],
        did: 'remove 1',
        reason: { code: 'backoff' },
        also: [],
        alternatives: [{ what: 'launch 2 from planted-secret', whyNot: 'it said planted-secret' }],
        why: 'Launching failed: bad key planted-secret.',
        unless: 'planted-secret is accepted',
        figures: {},
      }),
    });

    const answer = await call('GET', '/api/v1/pools/gpu/plan', { as: 'viewer' });

    expect(answer.json<Plan>()).toMatchObject({
      why: 'Launching failed: bad key [hidden].',
      unless: '[hidden] is accepted',
      alternatives: [{ what: 'launch 2 from [hidden]', why_not: 'it said [hidden]' }],
      actions: [{ why: 'refused [hidden]' }],
    });
    expect(answer.body).not.toContain('planted-secret');
  });

  it('says what keeps a pool from its machines, without secrets', async () => {
    const { spec } = gpu;
    const stuck = poolWithSecret('stuck', {
      spec: { ...spec, labels: { trouble: 'quota: 0 left for planted-secret.' } },
    });
    const { call } = await apiWorld({ rows: [row('pools', gpu), row('pools', stuck)] });

    const { items } = (await call('GET', '/api/v1/pools')).json<PoolList>();

    expect(items.map(({ trouble }) => trouble)).toEqual([undefined, 'quota: 0 left for [hidden].']);
  });

  it('knows which pool was meant', async () => {
    const { call } = await apiWorld({ rows: [row('pools', gpu), row('pools', poolWithSecret('local'))] });

    const near = await call('GET', '/api/v1/pools/locla');
    const mixed = await call('GET', '/api/v1/pools/lcaol');
    const far = await call('POST', '/api/v1/pools/elephants/pause');

    expect([near.statusCode, near.json().remedy]).toEqual([404, 'Did you mean local?']);
    expect(mixed.json().remedy).toBe('Did you mean local?');
    expect([far.statusCode, far.json().remedy]).toEqual([404, 'List pools with `muster pool ls`.']);
  });

  it('lists pools by name in pages, by source, phase and prefix', async () => {
    const names = ['c', 'a', 'b', 'x.b_C:d/é'];
    const rows = names.map((name) => row('pools', poolWithSecret(name)));
    const paused = row('pools', poolWithSecret('b', { pausedAt: 1, owner: { source: 'ssm', key: 'b', version: '1' } }));
    const { call } = await apiWorld({ rows: [...rows, paused] });
    const list = async (query: string) => (await call('GET', `/api/v1/pools?${query}`)).json<PoolList>();
    const names1 = (page: PoolList) => page.items.map((pool) => pool.name);

    const first = await list('limit=3');
    const second = await list(`limit=3&after=${first.next}`);

    expect([names1(first), first.next]).toEqual([['a', 'b', 'c'], 'c']);
    expect([names1(second), second.next]).toEqual([['x.b_C:d/é'], undefined]);
    expect(names1(await list('phase=paused'))).toEqual(['b']);
    expect(names1(await list('source=ssm'))).toEqual(['b']);
    expect(names1(await list('prefix=x'))).toEqual(['x.b_C:d/é']);
    expect((await call('GET', `/api/v1/pools/${encodeURIComponent('x.b_C:d/é')}`)).json<Pool>().name).toBe('x.b_C:d/é');
  });

  it('creates and changes from YAML or JSON, and only creates where that is asked for', async () => {
    const { call } = await apiWorld();
    const onlyNew = { 'if-none-match': '*' };

    const first = await call('POST', '/api/v1/pools', { payload: 'name: one\n', headers: { ...yaml, ...onlyNew } });
    const second = await call('POST', '/api/v1/pools', { payload: { name: 'one' } });
    const third = await call('POST', '/api/v1/pools', { payload: { name: 'one' }, headers: onlyNew });

    expect([first.statusCode, first.headers.location, first.headers.etag]).toEqual([201, '/api/v1/pools/one', '"1"']);
    expect([second.statusCode, second.headers.etag]).toEqual([200, '"2"']);
    expect([third.statusCode, third.json().kind]).toEqual([412, 'stale']);
  });

  it('changes a pool only where If-Match names its revision', async () => {
    const { call } = await apiWorld({ rows: [row('pools', poolWithSecret('gpu', { revision: 7 }))] });
    const put = async (headers: Record<string, string>, name = 'gpu') => {
      const answer = await call('PUT', `/api/v1/pools/${name}`, { payload: { name }, headers });
      return [answer.statusCode, answer.headers.etag];
    };

    expect(await put({ 'if-match': '"6"' })).toEqual([412, undefined]);
    expect(await put({ 'if-match': '"7"' })).toEqual([200, '"8"']);
    expect(await put({ 'if-match': 'W/"8"' })).toEqual([200, '"9"']);
    expect(await put({ 'if-match': '"1", "9"' })).toEqual([200, '"10"']);
    expect(await put({ 'if-match': '*' })).toEqual([200, '"11"']);
    expect(await put({ 'if-none-match': '*' })).toEqual([412, undefined]);
    expect(await put({ 'if-match': 'nonsense' })).toEqual([400, undefined]);
    expect(await put({ 'if-match': '*' }, 'new')).toEqual([412, undefined]);
    expect(await put({ 'if-none-match': '*' }, 'new')).toEqual([201, '"1"']);
    expect(await put({})).toEqual([200, '"12"']);
  });

  it('refuses a document of another pool', async () => {
    const { call } = await apiWorld({ rows: [row('pools', gpu)] });

    const answer = await call('PUT', '/api/v1/pools/gpu', { payload: { name: 'cpu' } });

    expect(answer.statusCode).toBe(422);
    expect(answer.json()).toMatchObject({ at: 'body.name' });
  });

  it('removes, pauses and resumes', async () => {
    const { call } = await apiWorld({ rows: [row('pools', gpu)] });

    const paused = await call('POST', '/api/v1/pools/gpu/pause');
    const resumed = await call('POST', '/api/v1/pools/gpu/resume');
    const stale = await call('DELETE', '/api/v1/pools/gpu', { headers: { 'if-match': '"1"' } });
    const removed = await call('DELETE', '/api/v1/pools/gpu', { headers: { 'if-match': '"3"' } });

    expect(paused.json<Pool>().phase).toBe('paused');
    expect(resumed.json<Pool>().phase).toBe('active');
    expect(stale.statusCode).toBe(412);
    expect([removed.statusCode, removed.json<Pool>().phase]).toEqual([202, 'removing']);
  });

  it('says which labels the queued sessions ask for that no worker offers', async () => {
    const waiting = { ...aSession('s-1', gpu), unmatched: 'gpu=h100' };
    const { call } = await apiWorld({ rows: [row('pools', gpu), row('sessions', waiting)] });

    const why = (await call('GET', '/api/v1/pools/gpu/why')).json<Why>();
    const session = (await call('GET', '/api/v1/sessions/s-1')).json<{ phase: string; why?: string }>();

    expect(why.unmatched).toEqual({ sessions: 1, labels: ['gpu=h100'] });
    expect(session).toMatchObject({ phase: 'queued', why: expect.stringContaining('offers gpu=h100') });
  });

  it('counts workers that start apart from idle ones, and says what each waits for, the oldest first', async () => {
    const starting = (name: string, askedAt: number) =>
      row('workers', aWorker(name, gpu.id, { askedAt, joinedAt: undefined }));
    const { call } = await apiWorld({
      rows: [row('pools', gpu), row('sessions', aSession('s-1', gpu)), starting('m-2', 2_000), starting('m-1', 1_000)],
    });

    const why = (await call('GET', '/api/v1/pools/gpu/why')).json<Why>();
    const workers = (await call('GET', '/api/v1/workers')).json<{ items: { waits?: string }[] }>();

    expect(why.counts).toEqual({ queued: 1, idle: 0, starting: 2 });
    expect(why.starting.map(({ worker }) => worker)).toEqual(['m-1', 'm-2']);
    expect(why.starting[0]?.waits).toMatch(/^waits for /);
    expect(workers.items.map(({ waits }) => typeof waits)).toEqual(['string', 'string']);
  });

  it('says why: the last decisions with facts, repeats and what would change them', async () => {
    const decision = (id: string, did: string) => ({
      id,
      at: 0,
      subject: poolSubject(gpu.id),
      did,
      reason: { code: 'max-agents', with: { maxAgents: 5 } },
      why: 'w',
      alternatives: [{ what: 'launch 2 more', whyNot: 'max_agents 5 is reached' }],
      facts: { poolSize: 1 },
      unless: 'u',
    });
    const last = { decision: decision('d2', 'nothing'), repeats: 9, lastAt: 60_000 };
    const { call } = await apiWorld({
      rows: [
        row('pools', gpu),
        append('decisions', decision('d1', 'launch')),
        append('decisions', decision('d2', 'nothing')),
      ],
      over: { journal: { lastDecision: () => last } },
    });

    const why = (await call('GET', '/api/v1/pools/gpu/why')).json<Why>();

    expect(why.decisions).toMatchObject([
      {
        id: 'd2',
        did: 'nothing',
        repeats: 9,
        last_at: '1970-01-01T00:01:00.000Z',
        unless: 'u',
        facts: { pool_size: 1 },
        reason: { code: 'max-agents', with: { max_agents: 5 } },
        alternatives: [{ what: 'launch 2 more', why_not: 'max_agents 5 is reached' }],
      },
      { id: 'd1', did: 'launch' },
    ]);
  });

  it('shows the plan, and the freeze that stops it', async () => {
    const { call } = await apiWorld({ rows: [row('pools', gpu)] });

    await call('POST', '/api/v1/freeze', { payload: { why: 'Maintenance.' } });
    const frozen = (await call('GET', '/api/v1/pools/gpu')).json<Pool>().frozen;
    const plan = (await call('GET', '/api/v1/pools/gpu/plan')).json();
    const left = (await call('POST', '/api/v1/thaw')).json();

    expect(frozen).toMatchObject({ scope: 'fleet', why: 'Maintenance.', by: 'token:admin', thaw: 'muster thaw' });
    expect(plan).toMatchObject({ pool: 'gpu', why: 'Nothing to do.', unless: 'More sessions wait.' });
    expect(left).toEqual({ items: [] });
  });

  it('shows in a pool and in why that its removal is held, until that ends', async () => {
    const held = { at: 1_000, why: 'The last listings lack 3 of the 4 pools.', keys: [gpu.owner.key, 'x', 'y'] };
    const source = { id: gpu.owner.source, kind: 'aws' };
    const { call, deps } = await apiWorld({ rows: [row('pools', gpu), row('sources', { ...source, held })] });
    const shown = async (path: string) => (await call('GET', `/api/v1/pools/gpu${path}`)).json<Pool>().held;
    const expected = {
      at: '1970-01-01T00:00:01.000Z',
      why: 'The last listings lack 3 of the 4 pools.',
      approve: `muster source approve ${source.id} --pools 3`,
    };

    expect([await shown(''), await shown('/why')]).toEqual([expected, expected]);
    await deps.store.commit([row('sources', source)]);
    expect([await shown(''), await shown('/why')]).toEqual([undefined, undefined]);
  });
});

import { describe, expect, it } from 'vitest';
import { append } from '#core/store.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { anAgent, aSession, aWorker, poolWithSecret, row } from './testing/rows.ts';
import { apiWorld } from './testing/world.ts';
import type { OutputLine, Session, SessionList } from './wire/session.ts';

const gpu = poolWithSecret('gpu');
const rows = [row('pools', gpu)];
const POST = '/api/v1/sessions';

describe('sessions', () => {
  it('accepts one and shows it, but never the values of its environment', async () => {
    const { call, disk } = await apiWorld({ rows });
    const payload = { pool: 'gpu', command: ['uname', '-a'], env: { KEY: 'planted' }, timeout: '90s', terminal: {} };

    const answer = await call('POST', POST, { payload, as: 'operator' });

    const session = answer.json<Session>();
    expect(answer.statusCode).toBe(201);
    expect(answer.headers.location).toBe(`/api/v1/sessions/${session.id}`);
    expect(session).toMatchObject({
      pool: 'gpu',
      phase: 'queued',
      command: ['uname', '-a'],
      env_names: ['KEY'],
      timeout: '1m30s',
      grace: '10s',
      terminal: true,
      stdin: true,
      by: 'token:operator',
    });
    expect(answer.body).not.toContain('planted');
    expect([...(disk.rows.get('sessions')?.values() ?? [])]).toMatchObject([
      { spec: { env: { KEY: 'planted' }, timeoutMs: 90_000, terminal: { columns: 80, rows: 24 } } },
    ]);
  });

  it.each(['1A', 'a-b', 'a b', 'A=B', '', 'é'])('refuses the variable "%s" when it is submitted', async (name) => {
    const { call, disk } = await apiWorld({ rows });

    const answer = await call('POST', POST, { payload: { pool: 'gpu', command: ['true'], env: { [name]: 'x' } } });

    expect(answer.statusCode).toBe(422);
    expect(answer.body).toContain('Must be letters, digits and underscores, and begin with no digit.');
    expect(disk.rows.get('sessions')?.size ?? 0).toBe(0);
  });

  it('accepts a list in one request, all or none', async () => {
    const { call, disk } = await apiWorld({ rows });
    const one = { pool: 'gpu', command: ['true'] };

    const good = await call('POST', POST, { payload: [one, one, one] });
    const bad = await call('POST', POST, { payload: [one, { pool: 'nowhere', command: ['true'] }] });

    expect(good.json<SessionList>().items).toHaveLength(3);
    expect(bad.statusCode).toBe(404);
    expect(bad.json()).toMatchObject({ at: '[1].pool' });
    expect(disk.rows.get('sessions')?.size).toBe(3);
  });

  it('gives the same session again for the same idempotency key of the same caller', async () => {
    const { call } = await apiWorld({ rows });
    const payload = { pool: 'gpu', command: ['true'] };
    const submit = async (as: 'operator' | 'admin', key: string) =>
      (await call('POST', POST, { payload, as, headers: { 'idempotency-key': key } })).json<Session>().id;

    const first = await submit('operator', 'k1');

    expect(await submit('operator', 'k1')).toBe(first);
    expect(await submit('operator', 'k2')).not.toBe(first);
    expect(await submit('admin', 'k1')).not.toBe(first);
  });

  it.each(['', ' ', 'x'.repeat(256), 'ümlaut'])('refuses the idempotency key "%s"', async (key) => {
    const { call } = await apiWorld({ rows });

    const answer = await call('POST', POST, {
      payload: { pool: 'gpu', command: ['true'] },
      headers: { 'idempotency-key': key },
    });

    expect(answer.statusCode).toBe(400);
    expect(answer.json()).toMatchObject({ at: 'headers.idempotency-key' });
  });

  it('lists live and ended ones together, newest first, in pages without gaps or repeats', async () => {
    const end = { at: 1, how: 'exited', exitCode: 3 } as const;
    const { call } = await apiWorld({
      rows: [
        ...rows,
        row('agents', anAgent('m-1', gpu.id)),
        row('workers', aWorker('m-1', gpu.id)),
        row('sessions', aSession('s2', gpu)),
        row('sessions', aSession('s4', gpu, { worker: 'm-1', startedAt: 1 })),
        row('sessions', aSession('s5', gpu, { worker: 'm-gone' })),
        append('ended', aSession('s1', gpu, { end })),
        append('ended', aSession('s3', gpu, { end })),
      ],
    });
    const list = async (query: string) => (await call('GET', `${POST}?${query}`)).json<SessionList>();
    const ids = (page: SessionList) => page.items.map(({ id, phase }) => `${id} ${phase}`);

    const first = await list('limit=2');
    const second = await list(`limit=2&after=${first.next}`);
    const third = await list(`limit=2&after=${second.next}`);

    expect(ids(first)).toEqual(['s5 unknown', 's4 running']);
    expect(ids(second)).toEqual(['s3 ended', 's2 queued']);
    expect([ids(third), third.next]).toEqual([['s1 ended'], undefined]);
    expect(ids(await list('phase=running'))).toEqual(['s4 running']);
    expect(ids(await list('phase=ended&pool=gpu'))).toEqual(['s3 ended', 's1 ended']);
    expect(ids(await list('pool=gpu&phase=queued'))).toEqual(['s2 queued']);
    expect((await call('GET', `${POST}?pool=typo`)).json()).toMatchObject({
      kind: 'missing',
      detail: 'There is no pool typo.',
    });
    expect(ids(await list('phase=exited'))).toEqual(['s3 ended', 's1 ended']);
    expect(await list('phase=lost&limit=1')).toEqual({ items: [], next: 's3' });
    expect((await list('phase=ended')).items[0]?.end).toMatchObject({ exit_code: 3, how: 'exited' });
  });

  it('takes a name and a number, shows them, and lists by the name', async () => {
    const { call } = await apiWorld({ rows });
    const one = { pool: 'gpu', command: ['true'], name: 'sweep', count: 2 };

    const made = await call('POST', POST, {
      payload: [
        { ...one, index: 0 },
        { ...one, index: 1 },
      ],
    });
    await call('POST', POST, { payload: { pool: 'gpu', command: ['true'] } });
    const found = await call('GET', `${POST}?name=sweep`);

    expect(made.json<SessionList>().items).toMatchObject([{ name: 'sweep', index: 0, count: 2 }, { index: 1 }]);
    expect(found.json<SessionList>().items.map(({ index }) => index)).toEqual([1, 0]);
  });

  it.each([
    [{ name: '7up' }, 'begin with a letter'],
    [{ name: 'a/b' }, 'begin with a letter'],
    [{ index: 2, count: 2 }, 'index must be smaller than count'],
    [{ count: 2 }, 'index and count belong together'],
  ])('refuses %j', async (more, said) => {
    const { call } = await apiWorld({ rows });

    const answer = await call('POST', POST, { payload: { pool: 'gpu', command: ['true'], ...more } });

    expect([answer.statusCode, answer.body]).toEqual([422, expect.stringContaining(said)]);
  });

  it.each(['before', 'after'])('lists once a session that ends just %s history is read', async (when) => {
    const { call, sessions, deps } = await apiWorld({ rows: [...rows, row('sessions', aSession('s1', gpu))] });
    const { history } = deps.store;
    const read = history.ended.bind(history);
    const ended: typeof read = async (filter, page) => {
      if (when === 'before') await sessions.end('s1', 0);
      const found = await read(filter, page);
      if (when === 'after') await sessions.end('s1', 0);
      return found;
    };
    Object.assign(history, { ended });

    const { items } = (await call('GET', POST)).json<SessionList>();

    expect(items.map(({ id }) => id)).toEqual(['s1']);
  });

  it('waits for the end of a session, and answers with the session as it is when the time is up', async () => {
    const { call, sessions, clock, deps } = await apiWorld({
      rows: [...rows, row('sessions', aSession('s1', gpu)), row('sessions', aSession('s2', gpu))],
    });
    const wait = (id: string) => call('GET', `${POST}/${id}?wait=30s`);

    const ending = wait('s1');
    const lasting = wait('s2');
    await clock.advance(1_000);
    await sessions.end('s1', 7);
    await clock.advance(30_000);
    const [ended, late] = await Promise.all([ending, lasting]);

    expect(ended.json<Session>().end).toMatchObject({ exit_code: 7 });
    expect(late.json<Session>().phase).toBe('queued');
    expect(deps.store.view.sessions.size).toBe(1);
  });

  it('stops waiting for a caller whose token was revoked or has expired', async () => {
    const { call, clock, deps, tokens } = await apiWorld({ rows: [...rows, row('sessions', aSession('s1', gpu))] });
    const SELF = { who: 'test', from: 'here' };
    const { text } = await deps.access.createToken(
      { name: 'short', use: { role: 'viewer' }, expiresAt: clock.now() + 10_000 },
      SELF,
    );
    const url = `${POST}/s1?wait=200s`;
    const revoked = call('GET', url, { as: 'viewer' });
    const expired = call('GET', url, { headers: { authorization: `Bearer ${text}` } });
    const lasting = call('GET', url, { as: 'operator' });
    await clock.advance(1_000);

    const { token } = deps.access.authenticate({ authorization: `Bearer ${tokens.viewer}`, from: 'here' });
    await deps.access.revokeToken(token, SELF);
    await clock.advance(30_000);
    const ended = [(await revoked).statusCode, (await expired).statusCode];
    await clock.advance(170_000);

    expect(ended).toEqual([401, 401]);
    expect((await lasting).statusCode).toBe(200);
  });

  it('kills, politely or not', async () => {
    const { call } = await apiWorld({ rows: [...rows, row('sessions', aSession('s1', gpu))] });

    const polite = await call('POST', `${POST}/s1/kill`, { as: 'operator' });
    const forced = await call('POST', `${POST}/s1/kill`, { payload: { force: true } });

    expect(polite.json<Session>().kill).toMatchObject({ by: 'token:operator', force: false });
    expect(forced.json<Session>().kill).toMatchObject({ force: true });
  });

  it('answers 404 with the place for a session that never was', async () => {
    const { call } = await apiWorld({ rows });

    for (const path of ['', '/output', '/output?follow=1']) {
      const answer = await call('GET', `${POST}/nothing${path}`);
      expect(answer.statusCode).toBe(404);
      expect(answer.json()).toMatchObject({ kind: 'missing', at: 'path.session' });
    }
  });
});

describe('output', () => {
  const chunk = (seq: number, text: string, stream: 'stdout' | 'stderr' = 'stdout') =>
    append('output', { session: 's1', attempt: 1, seq, stream, at: 0, data: Buffer.from(text) });

  it('comes as lines of JSON, or raw, from where one was, of one stream', async () => {
    const { call } = await apiWorld({
      rows: [
        ...rows,
        row('sessions', aSession('s1', gpu)),
        chunk(1, 'one\n'),
        chunk(2, 'err\n', 'stderr'),
        chunk(3, 'zwö\n'),
      ],
    });
    const get = async (query: string) => (await call('GET', `${POST}/s1/output${query}`)).body;
    const decoded = (body: string) =>
      body
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as OutputLine);

    const lines = decoded(await get(''));

    expect(lines.map(({ seq, stream }) => [seq, stream])).toEqual([
      [1, 'stdout'],
      [2, 'stderr'],
      [3, 'stdout'],
    ]);
    expect(Buffer.from(lines[2]?.data ?? '', 'base64').toString()).toBe('zwö\n');
    expect(decoded(await get('?after_seq=2')).map((line) => line.seq)).toEqual([3]);
    expect(await get('?raw=1')).toBe('one\nerr\nzwö\n');
    expect(await get('?raw&stream=stderr')).toBe('err\n');
  });

  it('is downloaded as a text that a browser saves and never shows', async () => {
    const html = '<img src=x onerror=alert(1)>';
    const { call } = await apiWorld({ rows: [...rows, row('sessions', aSession('s1', gpu)), chunk(1, html)] });

    const { body, headers } = await call('GET', `${POST}/s1/output?download`);

    expect(body).toBe(html);
    expect(headers).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'content-disposition': 'attachment; filename="s1.txt"',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    });
  });

  it('is counted in the session, which says whether there was more than is kept', async () => {
    const output = { bytes: 67_108_864, seq: 9, isCut: true };
    const { call } = await apiWorld({ rows: [...rows, row('sessions', { ...aSession('s1', gpu), output })] });

    expect((await call('GET', `${POST}/s1`)).json<Session>().output).toEqual({ bytes: 67_108_864, is_cut: true });
  });

  it('with since is what was written from then on: a time, or a duration back from now', async () => {
    const clock = new VirtualClock();
    const now = clock.now();
    const at = (ms: number, seq: number, text: string) =>
      append('output', { session: 's1', attempt: 1, seq, stream: 'stdout', at: ms, data: Buffer.from(text) });
    const { call } = await apiWorld({
      clock,
      rows: [...rows, row('sessions', aSession('s1', gpu)), at(now - 10_000, 1, 'old'), at(now, 2, 'new')],
    });
    const read = async (since: string) => (await call('GET', `${POST}/s1/output?raw&since=${since}`)).body;

    expect(await read(new Date(now - 5_000).toISOString())).toBe('new');
    expect(await read('1s')).toBe('new');
    expect(await read('1h')).toBe('oldnew');
    expect(await read('soon')).toContain('Must be a duration such as 10m');
  });

  it('is followed until the session has ended', async () => {
    const { call, sessions, clock } = await apiWorld({
      rows: [...rows, row('sessions', aSession('s1', gpu)), chunk(1, 'a')],
    });

    const following = call('GET', `${POST}/s1/output?follow=1&raw=1`);
    await clock.settle();
    await sessions.print('s1', 2, 'b');
    await clock.settle();
    await sessions.print('s1', 3, 'c');
    await sessions.end('s1', 0);

    expect((await following).body).toBe('abc');
  });
});

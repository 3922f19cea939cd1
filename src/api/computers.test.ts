import { describe, expect, it } from 'vitest';
import type { Role } from '#core/access.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { going } from '#core/testing/going.ts';
import { commandOf } from '#sim/work.ts';
import { openComputerWorld } from '../computers/testing/world.ts';
import { attachEndpoint } from './attach.ts';
import { apiWorld } from './testing/world.ts';
import { tunnelEndpoints } from './tunnels.ts';
import type { SocketRequest } from './websockets.ts';
import type { Computer, ComputerList, ComputerOffers, ComputerWhy } from './wire/computer.ts';
import type { HttpProblem } from './wire/problem.ts';
import type { Session, SessionList } from './wire/session.ts';

const FILE = { templates: { small: { backend: { sim: {} } } } };
const command = commandOf({ durationMs: 30 * SECOND_MS, exitCode: 0, pieces: 1 });

type Problem = Omit<HttpProblem, 'status'>;

/** The API before the real feature, whose machines are those of a simulated cloud; `bob` is another operator. */
async function open(sections: Readonly<Record<string, unknown>> = FILE) {
  const world = await openComputerWorld({ sections: { computers: sections } });
  const { store, sessions, features } = world.life;
  const api = await apiWorld({ clock: world.clock, over: { store, sessions, features: features.public } });
  const bob = await api.deps.access.createToken(
    { name: 'bob', use: { role: 'operator' } },
    { who: 'test', from: 'here' },
  );
  async function call<T>(
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    body?: unknown,
    as: Role | 'bob' = 'operator',
  ) {
    const headers = as === 'bob' ? { authorization: `Bearer ${bob.text}` } : {};
    const more = { ...(body !== undefined && { payload: body as object }), headers, ...(as !== 'bob' && { as }) };
    const answer = await api.call(method, `/api/v1${path}`, more);
    return { status: answer.statusCode, body: answer.json<T>() };
  }
  const create = (name: string, more: object = { template: 'small' }, as?: Role | 'bob') =>
    call<Computer & Problem>('POST', '/computers', { name, ...more }, as);
  return { world, api, call, create };
}

async function running() {
  const opened = await open();
  await opened.create('dev');
  await opened.world.advance(MINUTE_MS);
  const { body: session } = await opened.call<Session>('POST', '/computers/dev/sessions', { command });
  await opened.world.advance(SECOND_MS);
  return { ...opened, session };
}

describe('a computer of the API', () => {
  it('is created, listed, shown and removed; then it is shown as ended, with who and why', async () => {
    const { world, call, create } = await open();
    const made = await create('dev', { template: 'small', ttl: '8h' });
    expect(made).toMatchObject({ status: 201, body: { name: 'dev', status: 'starting', by: 'token:operator' } });
    expect(Date.parse(made.body.ends_at ?? '') - Date.parse(made.body.created_at)).toBe(8 * HOUR_MS);
    await world.advance(MINUTE_MS);

    const shown = await call<Computer>('GET', '/computers/dev', undefined, 'viewer');
    expect(shown.body).toMatchObject({ status: 'running', agent: true, machine: world.made()[0] });
    const longer = await call<Computer>('POST', '/computers/dev/extend', { by: '2h' });
    expect(Date.parse(longer.body.ends_at ?? '') - Date.parse(made.body.ends_at ?? '')).toBe(2 * HOUR_MS);

    expect(await call<Computer>('DELETE', '/computers/dev')).toMatchObject({
      status: 202,
      body: { status: 'stopping' },
    });
    expect(await call<Computer>('DELETE', '/computers/dev')).toMatchObject({ status: 202 });
    await world.advance(5 * MINUTE_MS);

    expect((await call<ComputerList>('GET', '/computers')).body.items).toEqual([]);
    const end = { by: 'token:operator', why: 'Removed by token:operator.' };
    const all = await call<ComputerList>('GET', '/computers?all');
    expect(all.body.items).toMatchObject([{ name: 'dev', status: 'stopped', end }]);
    expect((await call<Computer>('GET', '/computers/dev')).body).toMatchObject({ status: 'stopped', end });
    expect(await call<Computer>('DELETE', '/computers/dev')).toMatchObject({ status: 202, body: { end } });
    const isOver = { detail: expect.stringMatching(/^Computer dev has ended at \S+ Removed by token:operator\.$/) };
    expect(await call('GET', '/computers/dev/why')).toMatchObject({ status: 404, body: isOver });
    expect(await call('POST', '/computers/dev/sessions', { command })).toMatchObject({ status: 404, body: isOver });
    expect(await call('POST', '/computers/dev/extend', { by: '1h' })).toMatchObject({ status: 404, body: isOver });
  });

  it('says what it waits for, with the facts and the events', async () => {
    const { world, call, create } = await open();
    world.cloud.script = ({ name }) =>
      name === 'create' ? { is: 'refused', fault: new Fault('exhausted', 'No planted-secret.') } : undefined;
    await create('dev');
    await world.advance(SECOND_MS);

    const { body } = await call<ComputerWhy>('GET', '/computers/dev/why', undefined, 'viewer');

    expect(body).toMatchObject({
      computer: { name: 'dev', status: 'starting' },
      waits: expect.stringMatching(/^Refused: No \[hidden\]\. The next try is at 2026-01-01T00:00:02\.\d+Z\.$/),
      refusals: 1,
      max_retries: 3,
      refused: { kind: 'exhausted' },
      frozen: false,
    });
    expect(body.events.map(({ kind }) => kind)).toContain('computer.retrying');
  });

  it('is followed until it runs, and until it is gone', async () => {
    const { world, call, create, api } = await open();
    await create('dev');
    const follow = async () => {
      const answer = api.call('GET', '/api/v1/computers/dev/progress');
      await world.advance(5 * MINUTE_MS);
      return (await answer).body
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as Computer).status);
    };

    expect((await follow()).at(-1)).toBe('running');
    await call('DELETE', '/computers/dev');
    expect(new Set(await follow())).toEqual(new Set(['stopping']));
    expect((await call('GET', '/computers/dev/progress')).status).toBe(404);
  });

  it('comes in pages that end: live ones by name, then ended ones', async () => {
    const { world, call, create } = await open();
    for (const name of ['e', 'f', 'a', 'c', 'b', 'd']) await create(name);
    for (const name of ['e', 'f']) await call('DELETE', `/computers/${name}`);
    await world.advance(5 * MINUTE_MS);
    const seen: string[] = [];

    for (let after: string | undefined, isMore = true; isMore; isMore = after !== undefined) {
      const query = `all&limit=2${after === undefined ? '' : `&after=${encodeURIComponent(after)}`}`;
      const { body } = await call<ComputerList>('GET', `/computers?${query}`);
      seen.push(...body.items.map(({ name }) => name));
      after = body.next;
    }

    expect(seen.slice(0, 4)).toEqual(['a', 'b', 'c', 'd']);
    expect(seen.slice(4).toSorted()).toEqual(['e', 'f']);
  });

  it('is offered with platforms, their options and templates', async () => {
    const { call } = await open();

    const { body } = await call<ComputerOffers>('GET', '/computer-offers', undefined, 'viewer');

    expect(body.templates).toEqual([{ name: 'small', platform: 'sim' }]);
    expect(body.platforms.find(({ name }) => name === 'azure')).toMatchObject({
      needs_admin: false,
      options: expect.arrayContaining([expect.objectContaining({ name: 'vm_size', default: 'Standard_DS1_v2' })]),
    });
    expect(body.platforms.filter(({ needs_admin: needs }) => needs).map(({ name }) => name)).toContain('local');
  });

  it.each([
    [{ platform: 'azur' }, 'platform', 'Did you mean azure?'],
    [{ platform: 'aws', options: { instance_typ: 'x' } }, 'options.instance_typ', 'muster computer platforms aws'],
    [{ platform: 'gcp' }, 'options.project', 'GOOGLE_CLOUD_PROJECT'],
    [{ platform: 'azure' }, 'options.subscription_id', 'AZURE_SUBSCRIPTION_ID'],
    [{ template: 'smal' }, 'template', 'small'],
    [{ template: 'small', ttl: '30d' }, 'ttl', '7d'],
    [{ template: 'small', ttl: 'off' }, 'ttl', 'allow_no_ttl'],
    [{ template: 'small', ttl: 'soon' }, 'body.ttl', ''],
    [{}, 'platform', '--platform'],
  ])('is refused with the place and the remedy: %j', async (wanted, at, remedy) => {
    const { create } = await open();

    const { status, body } = await create('dev', wanted);

    expect([status, body.at]).toEqual([expect.any(Number), expect.stringContaining(at)]);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
    expect(`${body.detail} ${body.remedy}`).toContain(remedy);
  });

  it('keeps its name until it is gone: the refusal names its owner, or the nearest name', async () => {
    const { call, create } = await open();
    await create('dev');

    expect((await create('dev', { template: 'small' }, 'bob')).body.detail).toContain('created by token:operator');
    expect((await call<Problem>('DELETE', '/computers/dav')).body).toMatchObject({ remedy: 'Did you mean dev?' });
  });
});

describe('a session of a computer', () => {
  it('is listed by its computer, and its output is read by its creator and admins', async () => {
    const { world, api, call, session } = await running();
    expect(session).toMatchObject({ computer: 'dev', command });
    expect(session.pool).toBeUndefined();
    const { body } = await call<SessionList>('GET', '/sessions?computer=dev', undefined, 'viewer');
    expect(body.items.map(({ id }) => id)).toEqual([session.id]);

    await world.advance(MINUTE_MS);
    const read = async (as: Role) =>
      (await api.call('GET', `/api/v1/sessions/${session.id}/output`, { as })).statusCode;
    expect([await read('operator'), await read('admin'), await read('viewer')]).toEqual([200, 200, 403]);
  });

  it('is out of reach for other operators: to start, end, attach to, copy from, forward or read', async () => {
    const { call, api, world, session } = await running();
    const caller = { who: 'token:bob', from: 'there', role: 'operator', token: 'bobs', by: 'header' } as const;
    const noEnd = going();
    const sockets = [attachEndpoint(api.deps, noEnd), ...tunnelEndpoints(api.deps, noEnd)];
    const open = (path: string, who: object) => {
      const url = new URL(`http://x/api/v1${path}`);
      const endpoint = sockets.find((one) => one.path.test(url.pathname));
      const parts = endpoint?.path.exec(url.pathname)?.slice(1);
      const request = { caller: { ...caller, ...who }, parts, query: url.searchParams, signal: noEnd };
      return endpoint?.open(request as unknown as SocketRequest).then(
        () => 'taken',
        (thrown: unknown) => Fault.from(thrown).message,
      );
    };
    const paths = [
      `/sessions/${session.id}/attach`,
      ...[`/sessions/${session.id}`, '/computers/dev'].flatMap((thing) =>
        ['ports/80', 'read?path=x', 'write?path=x'].map((rest) => `${thing}/${rest}`),
      ),
    ];

    for (const path of paths) {
      expect(await open(path, {}), path).toBe('Computer dev belongs to token:operator.');
      expect(await open(path, { role: 'admin' }), path).not.toContain('belongs');
    }
    for (const [method, path, body] of [
      ['POST', '/computers/dev/sessions', { command: ['true'] }],
      ['POST', `/sessions/${session.id}/kill`, {}],
      ['GET', `/sessions/${session.id}/output`, undefined],
      ['POST', '/computers/dev/extend', { by: '1h' }],
      ['DELETE', '/computers/dev', undefined],
    ] as const)
      expect(await call<Problem>(method, path, body, 'bob'), path).toMatchObject({
        status: 403,
        body: { detail: 'Computer dev belongs to token:operator.' },
      });

    // Its row goes with it; what ran there is still not for others.
    await call('DELETE', '/computers/dev');
    await world.advance(10 * MINUTE_MS);
    expect((await call('GET', `/sessions/${session.id}/output`, undefined, 'bob')).status).toBe(403);
    expect(await open(`/sessions/${session.id}/read?path=x`, {})).toBe('Computer dev belongs to token:operator.');
    expect((await call<Session>('POST', `/sessions/${session.id}/kill`, {})).status).toBe(202);
  });

  it('waits for an agent that is away shortly, and is refused with since when and why after that', async () => {
    const { world, call } = await running();
    world.agents.cutOff(world.made(), true);
    await world.advance(SECOND_MS);
    const ask = () => call<Problem & Session>('POST', '/computers/dev/sessions', { command });

    expect(await ask()).toMatchObject({ status: 201, body: { phase: 'queued' } });
    await world.advance(MINUTE_MS);

    expect(await ask()).toMatchObject({
      status: 409,
      body: {
        detail: expect.stringMatching(/^The agent of computer dev is away since 2026-.*Z\.$/),
        remedy: expect.stringContaining('Its machine is running: see `muster computer why dev`'),
      },
    });
  });

  it('is refused where the computer has failed, with why', async () => {
    const { world, call, create } = await open();
    world.cloud.script = ({ name }) =>
      name === 'create' ? { is: 'refused', fault: new Fault('exhausted', 'No room.') } : undefined;
    await create('dev');
    await world.advance(MINUTE_MS);

    expect(await call('POST', '/computers/dev/sessions', { command })).toMatchObject({
      status: 409,
      body: { detail: 'Computer dev has failed. Failed after 3 attempts: No room.' },
    });
  });

  it('is refused while the computer is being removed, with who removes it', async () => {
    const { call } = await running();
    await call('DELETE', '/computers/dev');

    expect(await call('POST', '/computers/dev/sessions', { command })).toMatchObject({
      status: 409,
      body: {
        detail: expect.stringMatching(/^Computer dev is being removed: Removed by \S+\.$/),
        remedy: expect.stringContaining('`muster computer rm dev --wait`'),
      },
    });
  });
});

it('metrics count computers by platform and status', async () => {
  const { create, world, api } = await open();
  await create('dev');
  await create('dev2');
  await world.advance(MINUTE_MS);

  const { body } = await api.call('GET', '/metrics');

  expect(body).toContain('muster_computers{platform="small",status="running"} 2');
});

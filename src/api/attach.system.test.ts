import { afterEach, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { untilHolds } from '#core/testing/until.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { anAgent, aSession, aSpec, poolWithSecret, row } from './testing/rows.ts';
import { endAll, served } from './testing/served.ts';
import type { AttachOut } from './wire/session.ts';

const gpu = poolWithSecret('gpu');

afterEach(endAll);

describe('attach', () => {
  const interactive = aSession('s1', gpu, {
    spec: { ...aSpec, stdin: true, terminal: { columns: 80, rows: 24, type: 'x' } },
  });
  const running = { ...interactive, worker: 'm-1', attempt: 1, startedAt: 1 };
  const rows = [row('pools', gpu), row('agents', anAgent('m-1', gpu.id)), row('sessions', running)];

  async function attached(
    world: Awaited<ReturnType<typeof served>>,
    more: { path?: string; headers?: Record<string, string> } = {},
  ) {
    const { path = '/api/v1/sessions/s1/attach', headers = { authorization: world.authorization } } = more;
    const socket = new WebSocket(`ws://127.0.0.1:${world.port}${path}`, { headers });
    const messages: AttachOut[] = [];
    socket.on('message', (data) => void messages.push(JSON.parse(String(data))));
    const closed = new Promise<{ code: number; reason: string }>((resolve) =>
      socket.on('close', (code, reason) => resolve({ code, reason: String(reason) })),
    );
    const opened = await new Promise<number>((resolve) => {
      socket.on('open', () => resolve(101));
      socket.on('unexpected-response', (_request, response) => resolve(response.statusCode ?? 0));
      socket.on('error', () => {});
    });
    return { socket, messages, closed, opened };
  }

  it('carries input and window size in, output and the end out', async () => {
    const world = await served({ rows });
    const { socket, messages, closed } = await attached(world);

    socket.send(Buffer.from('ls\n'), { binary: true });
    socket.send(JSON.stringify({ input: Buffer.from('pwd').toString('base64') }));
    socket.send(JSON.stringify({ resize: { columns: 100, rows: 30 } }));
    socket.send(JSON.stringify({ eof: true }));
    await untilHolds(() => expect(world.sessions.said).toHaveLength(4));
    await world.sessions.print('s1', 1, 'hello');
    await untilHolds(() => expect(messages).toHaveLength(1));
    await world.sessions.end('s1', 3);

    expect((await closed).code).toBe(1000);
    expect(world.sessions.said).toEqual(['s1 ls\n', 's1 pwd', 's1 100x30', 's1  eof']);
    expect(messages).toMatchObject([
      { output: { seq: 1, stream: 'stdout', data: Buffer.from('hello').toString('base64') } },
      { end: { id: 's1', phase: 'ended', end: { exit_code: 3 } } },
    ]);
  });

  it('keeps what is typed before the session runs until it does', async () => {
    const world = await served({ rows: [...rows, row('sessions', interactive)] });
    const { socket } = await attached(world);

    socket.send(Buffer.from('early'), { binary: true });
    await untilHolds(async () => expect((await world.accepted).isPaused()).toBe(true));
    const before = [...world.sessions.said];
    await world.deps.store.commit([row('sessions', running)]);
    await untilHolds(() => expect(world.sessions.said).toHaveLength(1));

    expect(before).toEqual([]);
    expect(world.sessions.said).toEqual(['s1 early']);
  });

  it('keeps what is typed while the agent is away until it is back, in order', async () => {
    const world = await served({ rows });
    const { socket } = await attached(world);

    socket.send(Buffer.from('before'), { binary: true });
    await untilHolds(() => expect(world.sessions.said).toHaveLength(1));
    world.sessions.isAway = true;
    socket.send(Buffer.from('one'), { binary: true });
    socket.send(Buffer.from('two'), { binary: true });
    await untilHolds(() => expect(world.sessions.refusals).toBeGreaterThan(1));
    world.sessions.isAway = false;
    await untilHolds(() => expect(world.sessions.said).toHaveLength(3));

    expect(world.sessions.said).toEqual(['s1 before', 's1 one', 's1 two']);
    expect(socket.readyState).toBe(WebSocket.OPEN);
  });

  it('with piped input is closed where the agent went away in the midst of it: part may be lost', async () => {
    const piped = { ...running, spec: { ...aSpec, stdin: true } };
    const world = await served({ rows: [...rows, row('sessions', piped)] });
    const { socket, closed } = await attached(world);
    world.sessions.isAway = true;

    socket.send(Buffer.from('one'), { binary: true });
    await untilHolds(() => expect(world.sessions.refusals).toBeGreaterThan(0));
    world.sessions.isAway = false;
    await untilHolds(() => expect(world.sessions.said).toHaveLength(1));
    world.sessions.isAway = true;
    socket.send(Buffer.from('two'), { binary: true });

    expect(await closed).toEqual({ code: 1008, reason: 'The agent of the session is disconnected.' });
    expect(world.sessions.said).toEqual(['s1 one']);
  });

  it('reads no further while much is still on its way to the agent', async () => {
    const world = await served({ rows });
    const { socket } = await attached(world);
    world.sessions.waitingBytes = 2 ** 24;

    socket.send(Buffer.from('one'), { binary: true });
    await untilHolds(() => expect(world.sessions.said).toHaveLength(1));
    socket.send(Buffer.from('two'), { binary: true });
    await untilHolds(async () => expect((await world.accepted).isPaused()).toBe(true));
    const meanwhile = [...world.sessions.said];
    world.sessions.waitingBytes = 0;
    await untilHolds(() => expect(world.sessions.said).toHaveLength(2));

    expect(meanwhile).toEqual(['s1 one']);
    expect(world.sessions.said).toEqual(['s1 one', 's1 two']);
  });

  it('is closed with the reason where a message is malformed', async () => {
    for (const message of ['x', '{}', '{"resize":{"columns":0,"rows":1}}', '{"input":"%"}', '{"eof":false}']) {
      const world = await served({ rows });
      const { socket, closed } = await attached(world);

      socket.send(message);

      const { code, reason } = await closed;
      expect(code, message).toBe(1008);
      expect(reason, message).toMatch(/message/);
    }
  });

  it('is closed as soon as its token was revoked', async () => {
    const world = await served({ rows });
    const { closed } = await attached(world);
    const [token] = [...world.deps.store.view.tokens.all()].filter(({ name }) => name === 'operator');
    await world.deps.access.revokeToken(token?.id ?? '', { who: 'test', from: 'here' });

    expect(await closed).toEqual({ code: 1008, reason: 'The token has expired or was revoked.' });
  });

  it('is closed when its token expires, and when its token loses the role', async () => {
    const clock = new VirtualClock();
    const world = await served({ rows, clock });
    const { access, store } = world.deps;
    const made = { name: 'x', use: { role: 'operator' } } as const;
    const short = await access.createToken({ ...made, expiresAt: clock.now() + 12_000 }, { who: 't', from: 't' });
    const lowered = await access.createToken(made, { who: 't', from: 't' });
    const expiring = await attached(world, { headers: { authorization: `Bearer ${short.text}` } });
    const losing = await attached(world, { headers: { authorization: `Bearer ${lowered.text}` } });

    await clock.advance(11_000);
    const before = [expiring.socket.readyState, losing.socket.readyState];
    await store.commit([row('tokens', { ...lowered.token, use: { role: 'viewer' } })]);
    await clock.advance(1_000);

    expect(before).toEqual([WebSocket.OPEN, WebSocket.OPEN]);
    expect(await expiring.closed).toEqual({ code: 1008, reason: 'The token has expired or was revoked.' });
    expect(await losing.closed).toEqual({
      code: 1008,
      reason: 'This needs the role operator; the token now has viewer.',
    });
  });

  it('is refused without a token, to a viewer, by another Host or origin, and where there is nothing', async () => {
    const world = await served({ rows });
    const { authorization, tokens, deps, port } = world;
    const caller = deps.access.authenticate({ authorization, from: 't' });
    const { text } = await deps.access.exchangeLogin(deps.access.createLoginLink('operator', caller).code, 'here');
    const cookie = `muster_session=${text}`;
    const tryWith = async (headers: Record<string, string>, path?: string) =>
      (await attached(world, { headers, ...(path && { path }) })).opened;

    expect(await tryWith({})).toBe(401);
    expect(await tryWith({ authorization: `Bearer ${tokens.viewer}` })).toBe(403);
    expect(await tryWith({ authorization, host: 'evil.example.org' })).toBe(421);
    expect(await tryWith({ cookie, origin: 'https://evil.example.org' })).toBe(403);
    expect(await tryWith({ cookie, origin: `http://127.0.0.1:${port}` })).toBe(101);
    expect(await tryWith({ authorization }, '/api/v1/sessions/nothing/attach')).toBe(404);
    expect(await tryWith({ authorization }, '/api/v1/pools')).toBe(404);
    expect(await tryWith({ authorization }, '/api/v1/sessions/%zz/attach')).toBe(422);
    expect(await tryWith({ authorization }, '/api/v1/sessions/s1/attach?after_seq=x')).toBe(422);
  });
});

import { once } from 'node:events';
import { connect } from 'node:net';
import { PassThrough } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { Fault } from '#core/fault.ts';
import { untilHolds } from '#core/testing/until.ts';
import type { Tunnel, TunnelEnd } from '#core/tunnel.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { aSession, poolWithSecret, row } from './testing/rows.ts';
import { endAll, served } from './testing/served.ts';

const gpu = poolWithSecret('gpu');
const rows = [row('pools', gpu), row('sessions', { ...aSession('s1', gpu), worker: 'm-1', attempt: 1, startedAt: 1 })];

afterEach(endAll);

/** The worker's end of a tunnel, by hand. */
function aTunnel() {
  const worker = new PassThrough();
  const heard: string[] = [];
  const finished = Promise.withResolvers<void>();
  const room = { taken: Promise.resolve() as Promise<void> };
  let closes = 0;
  const tunnel: Tunnel = {
    received: worker,
    finished: () => finished.promise,
    async send(data) {
      heard.push(Buffer.from(data).toString());
      await room.taken;
    },
    end: () => void heard.push('<end>'),
    close() {
      closes += 1;
      worker.destroy();
    },
  };
  worker.on('error', () => {});
  return { tunnel, worker, heard, finished, room, closes: () => closes };
}

async function aServer(options: Parameters<typeof served>[0] = {}) {
  const world = await served({ rows, ...options });
  const far = aTunnel();
  const asked: TunnelEnd[] = [];
  world.sessions.openTunnel = async (_session, to) => {
    asked.push(to);
    return far.tunnel;
  };
  return { ...world, far, asked };
}

type Server = Awaited<ReturnType<typeof aServer>>;

async function joined(
  server: Pick<Server, 'port' | 'authorization'>,
  path = 'ports/8888',
  headers?: Record<string, string>,
) {
  const url = `ws://127.0.0.1:${server.port}/api/v1/sessions/${path.startsWith('/') ? path.slice(1) : `s1/${path}`}`;
  const socket = new WebSocket(url, { headers: headers ?? { authorization: server.authorization } });
  const messages: string[] = [];
  socket.on('message', (data) => void messages.push(String(data)));
  const closed = new Promise<{ code: number; reason: string }>((resolve) =>
    socket.on('close', (code, reason) => resolve({ code, reason: String(reason) })),
  );
  const answer = await new Promise<{ status: number; body: string }>((resolve) => {
    socket.on('open', () => resolve({ status: 101, body: '' }));
    socket.on('unexpected-response', async (_request, reply) => {
      let body = '';
      for await (const part of reply) body += String(part);
      resolve({ status: reply.statusCode ?? 0, body });
    });
    socket.on('error', () => {});
  });
  return { socket, messages, closed, ...answer };
}

describe('a tunnel over a WebSocket', () => {
  it('carries bytes both ways; each side ends its own, and the server closes when the worker has taken all', async () => {
    const server = await aServer();
    const { socket, messages, closed } = await joined(server);

    socket.send(Buffer.from('question'));
    socket.send('{"eof":true}');
    socket.send(Buffer.from('ignored'));
    server.far.worker.write('answer');
    await untilHolds(() => expect(messages).toEqual(['answer']));
    server.far.worker.end();
    await untilHolds(() => expect(messages).toEqual(['answer', '{"eof":true}']));
    const before = socket.readyState;
    server.far.finished.resolve();

    expect([before, (await closed).code]).toEqual([WebSocket.OPEN, 1000]);
    expect(server.far.heard).toEqual(['question', '<end>']);
    expect(server.far.closes()).toBeGreaterThan(0);
  });

  it('ends at a port, at an archive that is read, or at one that is written', async () => {
    const server = await aServer();

    for (const path of ['ports/1', 'ports/65535', 'read?path=out%2Fa%20b', 'write?path=-x']) await joined(server, path);

    expect(server.asked).toEqual([{ port: 1 }, { port: 65_535 }, { read: 'out/a b' }, { write: '-x' }]);
  });

  it('is refused without a token, to a viewer, by another Host or origin, and where there is no session', async () => {
    const server = await aServer();
    const { authorization, tokens, deps, port } = server;
    const caller = deps.access.authenticate({ authorization, from: 't' });
    const { text } = await deps.access.exchangeLogin(deps.access.createLoginLink('operator', caller).code, 'here');
    const cookie = `muster_session=${text}`;

    for (const path of ['ports/8888', 'read?path=x', 'write?path=x']) {
      const statusWith = async (headers: Record<string, string>) => (await joined(server, path, headers)).status;
      expect(await statusWith({})).toBe(401);
      expect(await statusWith({ authorization: `Bearer ${tokens.viewer}` })).toBe(403);
      expect(await statusWith({ authorization, host: 'evil.example.org' })).toBe(421);
      expect(await statusWith({ cookie, origin: 'https://evil.example.org' })).toBe(403);
      expect(await statusWith({ cookie, 'sec-fetch-site': 'cross-site' })).toBe(403);
    }
    expect((await joined(server, '/nothing/ports/1')).status).toBe(404);
    expect(server.asked).toEqual([]);
    expect((await joined(server, 'ports/1', { cookie, origin: `http://127.0.0.1:${port}` })).status).toBe(101);
  });

  it('is refused with a remedy for what is no port and no path, and no worker is asked', async () => {
    const server = await aServer();
    const ports = ['0', '65536', '99999', '1e3', '-1', '8888x', '0x50', '%20' + '80', '%00', '80.0'];
    const paths = ['read', 'read?path=', `read?path=${'x'.repeat(4_097)}`, 'write?path=a%00b', 'write?other=x'];

    for (const path of [...ports.map((each) => `ports/${each}`), ...paths]) {
      const { status, body } = await joined(server, path);
      expect(status, path).toBe(422);
      expect(JSON.parse(body), path).toMatchObject({ kind: 'invalid', remedy: expect.stringMatching(/\w/) });
    }
    expect(server.asked).toEqual([]);
  });

  it('is refused with the fault of the worker, and tells one that comes later', async () => {
    const server = await aServer();
    const { socket, messages, closed } = await joined(server);
    server.far.worker.destroy(new Fault('invalid', 'The disk is full.', { remedy: 'Free some.' }));
    const late = await closed;
    server.sessions.openTunnel = async () => {
      throw new Fault('missing', 'No such file.', { remedy: 'Look again.' });
    };
    const { status, body } = await joined(server, 'read?path=x');

    expect([late.code, late.reason, socket.readyState]).toEqual([1011, 'The disk is full.', WebSocket.CLOSED]);
    expect(messages.map((text) => JSON.parse(text))).toMatchObject([
      { problem: { kind: 'invalid', detail: 'The disk is full.', remedy: 'Free some.' } },
    ]);
    expect([status, JSON.parse(body)]).toMatchObject([404, { kind: 'missing', remedy: 'Look again.' }]);
  });

  it('is closed where a text message says something else than the end', async () => {
    for (const text of ['x', '{}', '{"eof":false}', 'null', '[]']) {
      const server = await aServer();
      const { socket, closed } = await joined(server);

      socket.send(text);

      expect((await closed).code, text).toBe(1008);
      expect(server.far.closes(), text).toBeGreaterThan(0);
    }
  });
});

describe('the token of a tunnel', () => {
  it('ends it at once where it is revoked', async () => {
    const server = await aServer();
    const { closed, messages } = await joined(server);
    const [token] = [...server.deps.store.view.tokens.all()].filter(({ name }) => name === 'operator');

    await server.deps.access.revokeToken(token?.id ?? '', { who: 'test', from: 'here' });

    expect(await closed).toEqual({ code: 1008, reason: 'The token has expired or was revoked.' });
    expect(messages.map((text) => JSON.parse(text))).toMatchObject([{ problem: { kind: 'unauthenticated' } }]);
    expect(server.far.closes()).toBeGreaterThan(0);
  });

  it('ends it when it expires, when it loses the role, and where that happened while the worker was asked', async () => {
    const clock = new VirtualClock();
    const server = await aServer({ clock });
    const { access, store } = server.deps;
    server.sessions.openTunnel = async () => aTunnel().tunnel;
    const made = { name: 'x', use: { role: 'operator' } } as const;
    const short = await access.createToken({ ...made, expiresAt: clock.now() + 12_000 }, { who: 't', from: 't' });
    const lowered = await access.createToken(made, { who: 't', from: 't' });
    const late = await access.createToken(made, { who: 't', from: 't' });
    const by = ({ text }: { text: string }) => ({ authorization: `Bearer ${text}` });
    const expiring = await joined(server, 'read?path=x', by(short));
    const losing = await joined(server, 'write?path=x', by(lowered));

    await clock.advance(11_000);
    const before = [expiring.socket.readyState, losing.socket.readyState];
    await store.commit([row('tokens', { ...lowered.token, use: { role: 'viewer' } })]);
    await clock.advance(1_000);
    server.sessions.openTunnel = async () => {
      await access.revokeToken(late.token.id, { who: 'test', from: 'here' });
      return aTunnel().tunnel;
    };
    const opened = await joined(server, 'ports/1', by(late));
    await clock.advance(5_000);

    expect(before).toEqual([WebSocket.OPEN, WebSocket.OPEN]);
    expect(await expiring.closed).toMatchObject({ code: 1008, reason: 'The token has expired or was revoked.' });
    expect(await losing.closed).toMatchObject({ code: 1008 });
    expect(await opened.closed).toMatchObject({ code: 1008 });
  });
});

describe('a slow reader', () => {
  it('on the worker stops the server from reading its client', async () => {
    const server = await aServer();
    const { socket } = await joined(server);
    const room = Promise.withResolvers<void>();
    server.far.room.taken = room.promise;

    for (let n = 0; n < 100; n++) socket.send(Buffer.alloc(256 * 1024, 'x'));
    await untilHolds(async () => expect((await server.accepted).isPaused()).toBe(true));
    const taken = server.far.heard.length;
    server.far.room.taken = Promise.resolve();
    room.resolve();
    await untilHolds(() => expect(server.far.heard).toHaveLength(100));

    expect(taken).toBeLessThan(5);
  });

  it('at the client stops the server from reading the worker', async () => {
    const server = await aServer();
    let pulled = 0;
    server.sessions.openTunnel = async () => ({
      ...aTunnel().tunnel,
      received: (async function* () {
        for (; pulled < 4_000; pulled++) yield Buffer.alloc(64 * 1024);
      })(),
    });
    const { socket } = await joined(server);
    socket.pause();

    await untilHolds(async () => expect((await server.accepted).writableNeedDrain).toBe(true));

    expect(pulled).toBeLessThan(1_000);
    socket.terminate();
  });
});

describe('a tunnel is closed', () => {
  it('where its client goes away, also before it is open', async () => {
    const server = await aServer();
    const { socket } = await joined(server);
    socket.terminate();
    await untilHolds(() => expect(server.far.closes()).toBeGreaterThan(0));
    const [opening, late] = [Promise.withResolvers<AbortSignal>(), aTunnel()];
    const opened = Promise.withResolvers<Tunnel>();
    server.sessions.openTunnel = async (_session, _to, signal) => {
      opening.resolve(signal);
      return opened.promise;
    };
    const leaving = new WebSocket(`ws://127.0.0.1:${server.port}/api/v1/sessions/s1/ports/1`, {
      headers: { authorization: server.authorization },
    }).on('error', () => {});

    const signal = await opening.promise;
    leaving.terminate();
    if (!signal.aborted) await once(signal, 'abort');
    opened.resolve(late.tunnel);

    await untilHolds(() => expect(late.closes()).toBeGreaterThan(0));
  });

  it('where the handshake of its client is not valid', async () => {
    const server = await aServer();
    const socket = connect(server.port, '127.0.0.1').resume();

    socket.write(
      `GET /api/v1/sessions/s1/ports/1 HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: ${server.authorization}\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n`,
    );
    await once(socket, 'close');

    await untilHolds(() => expect(server.far.closes()).toBeGreaterThan(0));
    expect(server.asked).toHaveLength(1);
  });

  it('where the server stops', async () => {
    const server = await aServer();
    const { closed } = await joined(server);

    void server.api.close();

    expect(await closed).toEqual({ code: 1001, reason: 'The server is stopping.' });
    expect(server.far.closes()).toBeGreaterThan(0);
  });

  it('where its client answers no ping though nothing holds it up', async () => {
    const clock = new VirtualClock();
    const server = await aServer({ clock });
    const url = `ws://127.0.0.1:${server.port}/api/v1/sessions/s1/ports/1`;
    const silent = new WebSocket(url, { autoPong: false, headers: { authorization: server.authorization } });
    await once(silent, 'open');

    const pinged = once(silent, 'ping');
    await clock.advance(20_000);
    await pinged;
    const before = server.far.closes();
    await clock.advance(20_000);

    await untilHolds(() => expect(server.far.closes()).toBeGreaterThan(0));
    expect(before).toBe(0);
  });
});

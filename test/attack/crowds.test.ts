// Thousands of connections that come, end or are reset at once: the system reports all of them in one turn of the event loop.
import { connect as connectHttp2 } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, test } from 'vitest';
import { CROWD_WAIT_MS, type OtherCaller, openTarget, type Target } from './target.ts';

let target: Target;
beforeAll(async () => {
  target = await openTarget({ isBehindProxy: true });
});
afterAll(() => target?.close());

const whileOthersAsk = <T>(attack: string, run: (other: OtherCaller) => Promise<T>): Promise<T> =>
  target.whileOthersAsk(attack, run, CROWD_WAIT_MS);

const CONNECTIONS = 4_000;
const HTTP2_CONNECTIONS = 1_000;
const TURNS = 100;
const ENDS = {
  end: (socket: Socket) => void socket.destroy(),
  'are reset': (socket: Socket) => void socket.resetAndDestroy(),
};

async function openAll(port: number, text: string): Promise<Socket[]> {
  const sockets = Array.from({ length: CONNECTIONS }, () => connect(port, '127.0.0.1').on('error', () => {}));
  await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once('connect', resolve))));
  for (const socket of sockets) if (text) socket.write(text);
  return sockets;
}

test.each([
  ['silent', 'http', ''],
  ['with half a request', 'http', 'GET / HTTP/1.1\r\nhost: a\r\nx: '],
  ['with a whole request', 'http', 'GET /api/v1/pools HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n'],
  ['silent', 'grpc', ''],
] as const)('4,000 connections, %s, over %s', async (kind, protocol, text) => {
  const what = `${CONNECTIONS} connections, ${kind}, over ${protocol}`;
  for (const [verb, end] of Object.entries(ENDS)) {
    const sockets = await whileOthersAsk(`${what}, come`, async (other) => {
      const opened = await openAll(target[protocol], text);
      await other.answered(TURNS);
      return opened;
    });
    await whileOthersAsk(`${what}, ${verb}`, async (other) => {
      sockets.forEach(end);
      await other.answered(TURNS);
    });
  }
  target.mustBeSound();
});

test('1,000 connections that speak HTTP/2 and end at once', async () => {
  const sessions = Array.from({ length: HTTP2_CONNECTIONS }, () =>
    connectHttp2(`http://127.0.0.1:${target.grpc}`).on('error', () => {}),
  );
  await Promise.all(sessions.map((session) => new Promise((resolve) => session.once('remoteSettings', resolve))));
  await whileOthersAsk(`${HTTP2_CONNECTIONS} connections over HTTP/2 end`, async (other) => {
    for (const session of sessions) session.destroy();
    await other.answered(TURNS);
  });
  target.mustBeSound();
});

const BODIES = 200;
const BODY = Array.from({ length: 64 }, (_, at) => `k${at}: ${at}`).join('\n');

test.each([
  ['/pools', 'operator', 'application/yaml', BODY],
  ['/plans', 'viewer', 'application/json', JSON.stringify({ documents: [{ key: 'x', text: BODY }] })],
] as const)('200 callers of %s whose last bytes come at once', async (path, role, type, body) => {
  const head = `POST /api/v1${path} HTTP/1.1\r\nhost: 127.0.0.1:${target.http}\r\nauthorization: Bearer ${target.token(role)}`;
  const sockets = Array.from({ length: BODIES }, () =>
    connect(target.http, '127.0.0.1')
      .on('error', () => {})
      .resume(),
  );
  await whileOthersAsk(`the ends of ${BODIES} requests to ${path}`, async (other) => {
    for (const socket of sockets)
      socket.write(`${head}\r\ncontent-type: ${type}\r\ncontent-length: ${body.length}\r\n\r\n${body.slice(0, -1)}`);
    await other.answered(TURNS);
    const answers = sockets.map((socket) => new Promise((resolve) => socket.once('data', resolve)));
    for (const socket of sockets) socket.write(body.slice(-1));
    await Promise.all(answers);
  });
  for (const socket of sockets) socket.destroy();
  target.mustBeSound();
});

const WAITING = 1_000;

function untilHeard(socket: Socket, word: string): Promise<void> {
  let text = '';
  return new Promise((resolve) =>
    socket.on('data', (piece) => {
      text += piece;
      if (text.includes(word)) resolve();
    }),
  );
}

test.each([
  ['the end of a session', (id: string) => `/sessions/${id}?wait=60s`, undefined],
  ['changes', () => '/changes', 'hello'],
])('1,000 callers who wait for %s', async (what, pathOf, greeting) => {
  const headers = { authorization: `Bearer ${target.token('operator')}`, 'content-type': 'application/json' };
  const post = (path: string, body: object) =>
    target.send({ method: 'POST', path: `/api/v1${path}`, headers, body: JSON.stringify(body) });
  const submitted = await post('/sessions', { pool: 'manual', command: ['true'] });
  const { id } = JSON.parse(submitted.body) as { id: string };
  const head = `GET /api/v1${pathOf(id)} HTTP/1.1\r\nhost: 127.0.0.1:${target.http}\r\nauthorization: Bearer ${target.token('viewer')}`;
  const sockets = Array.from({ length: WAITING }, () => connect(target.http, '127.0.0.1').on('error', () => {}));
  const heard = sockets.map((socket) => untilHeard(socket, id));
  await whileOthersAsk(`${WAITING} callers come to wait for ${what}`, async (other) => {
    for (const socket of sockets) socket.write(`${head}\r\n\r\n`);
    if (greeting) await Promise.all(sockets.map((socket) => untilHeard(socket, greeting)));
    else await other.answered(TURNS);
  });
  await whileOthersAsk(`${WAITING} callers hear of ${what}`, async () => {
    await post(`/sessions/${id}/kill`, {});
    await Promise.all(heard);
  });
  for (const socket of sockets) socket.destroy();
  target.mustBeSound();
});

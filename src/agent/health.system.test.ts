import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { freePort } from '#core/testing/free-port.ts';
import { untilHolds } from '#core/testing/until.ts';
import { serveHealth } from './health.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function served(requestMs?: number): Promise<number> {
  const port = await freePort();
  open.push(await serveHealth(port, requestMs));
  return port;
}

function dial(port: number): Socket {
  const socket = connect(port, '127.0.0.1');
  open.push({ close: () => socket.destroy() });
  return socket;
}

/** All that the server sends until it closes the connection. */
async function rawAnswer(port: number, request: string): Promise<string> {
  const socket = dial(port);
  let text = '';
  socket.on('data', (data) => {
    text += data.toString('latin1');
  });
  socket.on('error', () => {});
  socket.write(request);
  await once(socket, 'close');
  return text;
}

test('GET /health is answered with the two words alone: no date, no server, no name', async () => {
  const port = await served();

  expect(await rawAnswer(port, 'GET /health?from=probe HTTP/1.1\r\nHost: x\r\n\r\n')).toBe(
    'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 16\r\nconnection: close\r\n\r\n{"healthy":true}',
  );
  expect(await rawAnswer(port, 'HEAD /health HTTP/1.1\r\nHost: x\r\n\r\n')).toBe(
    'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 16\r\nconnection: close\r\n\r\n',
  );
});

test.each([
  ['GET', '/'],
  ['GET', '/health/'],
  ['GET', '/healthz'],
  ['GET', '/..%2fhealth'],
  ['POST', '/other'],
  ['OPTIONS', '*'],
])('another path is not there: %s %s', async (method, path) => {
  const said = await rawAnswer(await served(), `${method} ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n`);

  expect(said).toBe('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
});

test.each(['POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'TRACE'])(
  'another method than GET and HEAD is refused: %s',
  async (method) => {
    const said = await rawAnswer(
      await served(),
      `${method} /health HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}`,
    );

    expect(said).toBe(
      'HTTP/1.1 405 Method Not Allowed\r\nallow: GET, HEAD\r\ncontent-length: 0\r\nconnection: close\r\n\r\n',
    );
  },
);

test.each([
  ['no HTTP at all', 'hello\r\n\r\n', '400'],
  ['headers without end', `GET /health HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(5_000)}\r\n\r\n`, '431'],
  ['a tunnel', 'CONNECT other:80 HTTP/1.1\r\nHost: x\r\n\r\n', ''],
  ['another protocol', 'GET /health HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n', '200'],
])('%s gets no more than a status', async (_, request, status) => {
  const said = await rawAnswer(await served(), request);

  expect(said.split(' ')[1] ?? '').toBe(status);
  expect(said).not.toMatch(/date|server|node/i);
});

test('a client that sends half a request is disconnected, and others are served meanwhile', async () => {
  const port = await served(200);
  const slow = dial(port);
  slow.on('error', () => {});
  slow.write('GET /hea');
  await once(slow, 'connect');

  expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200);
  await once(slow.resume(), 'close');
});

test('more connections than it takes are closed at once, and none of them for long', async () => {
  const port = await served(200);
  const crowd = Array.from({ length: 80 }, () => dial(port));
  let closed = 0;
  for (const socket of crowd) {
    socket.on('error', () => {});
    socket.on('close', () => closed++);
    socket.resume();
  }
  await untilHolds(() => expect(closed).toBeGreaterThanOrEqual(16));

  await untilHolds(async () => expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200));
});

test('a port in use is named with the process that holds it, without its arguments', async () => {
  const holder = createServer().listen(0, '0.0.0.0');
  await once(holder, 'listening');
  open.push({ close: () => holder.close() });
  const { port } = holder.address() as { port: number };

  await expect(serveHealth(port)).rejects.toMatchObject({
    kind: 'conflict',
    at: 'serve',
    message: expect.stringMatching(
      new RegExp(`^Port ${port} of this machine is in use by process ${process.pid} \\("\\S+"\\)\\.$`),
    ),
  });
});

test('once closed, the port is free', async () => {
  const port = await freePort();
  const health = await serveHealth(port);
  const idle = dial(port);
  idle.on('error', () => {});
  await once(idle, 'connect');

  await health.close();

  open.push(await serveHealth(port));
});

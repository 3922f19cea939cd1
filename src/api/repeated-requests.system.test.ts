import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, createServer as createListener, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test } from 'vitest';
import { until } from '#core/testing/until.ts';
import { watchRepeated } from './repeated-requests.ts';

const stops: (() => void)[] = [];

afterEach(() => {
  for (const stop of stops.splice(0).toReversed()) stop();
});

type Answer = (body: string) => Promise<string> | string;

/** A server whose requests to `/a` are learnt; `heard` tells which went to Node and which past it. */
async function served(answer: Answer = (body) => body, atNode: Answer = answer) {
  const heard: string[] = [];
  const sockets: Socket[] = [];
  const raw = (body: string): string => `HTTP/1.1 200 OK\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { socket } = request;
    if (request.url === '/a')
      repeated.learn(request, (body, whenAnswered) => {
        heard.push(`past ${body}`);
        void Promise.resolve(answer(String(body))).then((said) => {
          if (!socket.destroyed) socket.write(raw(said));
          whenAnswered();
        });
        return true;
      });
    const body = await text(request);
    heard.push(`node ${body || request.url}`);
    response.end(await atNode(body));
  }

  const server: Server = createServer((request, response) => void handle(request, response));
  const repeated = watchRepeated(server);
  const listener = createListener((socket) => {
    sockets.push(socket);
    server.emit('connection', socket);
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const client = connect((listener.address() as AddressInfo).port, '127.0.0.1');
  let received = '';
  client.setEncoding('latin1').on('data', (piece: string) => {
    received += piece;
  });
  stops.push(
    () => void listener.close(),
    () => void client.destroy(),
    () => server.closeAllConnections(),
  );
  const bodies = (): string[] => [...received.matchAll(/\r\n\r\n([^H]*)/g)].map(([, body]) => body ?? '');
  const answered = (...all: string[]) =>
    until(`the answers ${all}`, () => (bodies().join() === all.join() ? true : undefined));
  return { client, heard, answered, server, sockets };
}

const post = (body: string, path = '/a', headers = ''): string =>
  `POST ${path} HTTP/1.1\r\nHost: h\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`;

/** A connection that has carried one request. */
async function known(answer?: Answer, atNode?: Answer) {
  const world = await served(answer, atNode);
  world.client.write(post('first'));
  await world.answered('first');
  return world;
}

test('a request like the one before is taken from the socket', async () => {
  const { client, heard, answered } = await known();

  client.write(post('second, longer'));
  await answered('first', 'second, longer');
  client.write(post(''));
  await answered('first', 'second, longer', '');

  expect(heard).toEqual(['node first', 'past second, longer', 'past ']);
});

test('other plain requests go to Node in between', async () => {
  const { client, heard, answered } = await known();

  client.write('GET /b HTTP/1.1\r\nHost: h\r\n\r\n');
  await answered('first', '');
  client.write(post('second'));
  await answered('first', '', 'second');

  expect(heard).toEqual(['node first', 'node /b', 'past second']);
});

test('a request with another head is learnt in place of the first', async () => {
  const { client, heard, answered } = await known();

  client.write(post('second', '/a', 'Authorization: Bearer other\r\n'));
  await answered('first', 'second');
  client.write(post('third', '/a', 'Authorization: Bearer other\r\n'));
  await answered('first', 'second', 'third');

  expect(heard).toEqual(['node first', 'node second', 'past third']);
});

test.each([
  ['two requests in one piece', [post('x') + post('y')], ['x', 'y']],
  ['a request in two pieces', [post('xy').slice(0, -1), 'y'], ['xy']],
  ['a request and the beginning of another', [post('x') + post('y').slice(0, 20), post('y').slice(20)], ['x', 'y']],
])('%s give the connection to Node for good', async (_what, pieces, bodies) => {
  const { client, heard, answered } = await known();

  for (const piece of pieces) {
    client.write(piece);
    // Each arrives by itself.
    await new Promise((resolve) => setImmediate(resolve));
  }
  await answered('first', ...bodies);
  client.write(post('last'));
  await answered('first', ...bodies, 'last');

  expect(heard).toEqual(['node first', ...bodies.map((body) => `node ${body}`), 'node last']);
});

test('a body that looks like a known request is a body', async () => {
  const { client, heard } = await known();
  const inner = post('inner');
  const outer = post(`${inner}rest`, '/b');

  client.write(outer.slice(0, -inner.length - 4));
  await until('the head has come', () => heard.length > 0 || undefined);
  client.write(inner);
  client.write('rest');
  await until('both are answered', () => heard.length === 2 || undefined);
  client.write(post('last'));
  await until('the last is answered', () => heard.length === 3 || undefined);

  expect(heard).toEqual(['node first', `node ${inner}rest`, 'node last']);
});

test('answers go out in the order of the requests', async () => {
  const held = new Map<string, () => void>();
  const holding = (body: string): Promise<string> | string =>
    body === 'first' ? body : new Promise((resolve) => held.set(body, () => resolve(body)));
  const { client, heard, answered } = await known(holding);

  client.write(post('one'));
  await until('one has come', () => held.has('one') || undefined);
  client.write(post('two'));
  client.write(post('three', '/b'));
  held.get('one')?.();
  await answered('first', 'one');
  await until('two has come', () => held.has('two') || undefined);
  held.get('two')?.();
  await until('three has come', () => held.has('three') || undefined);
  held.get('three')?.();

  await answered('first', 'one', 'two', 'three');
  expect(heard[1]).toBe('past one');
});

test('a known request waits while Node answers another', async () => {
  const slow = Promise.withResolvers<string>();
  const { client, heard, answered } = await known(
    (body) => body,
    (body) => (body === 'slow' ? slow.promise : body),
  );

  client.write(post('slow', '/b'));
  await until('it has come', () => heard.includes('node slow') || undefined);
  client.write(post('quick'));
  slow.resolve('slow');

  await answered('first', 'slow', 'quick');
});

test('a client that does not read its answers is not read either', async () => {
  const long = 'x'.repeat(1_000_000);
  const { client, heard, sockets } = await known((body) => (body === 'first' ? body : long));
  const isFull = (): boolean => sockets[0]?.writableNeedDrain === true;
  client.pause();

  for (let n = 1; !isFull(); n++) {
    client.write(post(`${n}`));
    await until('it was taken', () => heard.length > n || isFull() || undefined);
  }
  const taken = heard.length;
  client.write(post('more'));
  await until('nothing is read any more', () => sockets[0]?.isPaused() || undefined);
  expect(heard).toHaveLength(taken);
  client.resume();

  await until('it reads again', () => heard.includes('past more') || undefined);
});

test('a connection that is upgraded belongs to those who upgrade it', async () => {
  const { client, server, heard } = await known();
  const upgraded = once(server, 'upgrade') as Promise<[IncomingMessage, Socket, Buffer]>;

  client.write('GET /ws HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
  const [, socket] = await upgraded;
  stops.push(() => void socket.destroy());
  const said = once(socket, 'data') as Promise<[Buffer]>;
  client.write(post('not a request'));

  expect(String((await said)[0])).toBe(post('not a request'));
  expect(heard).toEqual(['node first']);
});

test('a client that goes away in the midst of its request does no harm', async () => {
  const held = Promise.withResolvers<string>();
  const { client, heard, sockets } = await known((body) => (body === 'first' ? body : held.promise));

  client.write(post('one'));
  await until('it has come', () => heard.includes('past one') || undefined);
  client.destroy();
  await until('it is gone', () => sockets[0]?.destroyed || undefined);
  held.resolve('late');
  await held.promise;
});

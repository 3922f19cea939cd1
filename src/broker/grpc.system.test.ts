import { connect as connectHttp2, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http2';
import { type AddressInfo, connect, createServer } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { type Clock, systemClock } from '#core/clock.ts';
import type { Log } from '#core/log.ts';
import { untilHolds } from '#core/testing/until.ts';
import { openGrpc } from './grpc.ts';
import type { RpcMethod, TwoWayStream } from './method.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

const PATH = '/test.Service/Call';

/** A served path and a client. */
async function served(method: RpcMethod, clock: Clock = systemClock, streamsPerConnection = 100) {
  const lines: string[] = [];
  const log: Log = (level, message) => level !== 'debug' && lines.push(message);
  const limits = { pingEveryMs: 60_000, pingTimeoutMs: 60_000, streamsPerConnection };
  const grpc = openGrpc(new Map([[PATH, method]]), { clock, log, ...limits });
  const server = createServer(grpc.listener());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const client = connectHttp2(`http://127.0.0.1:${port}`);
  client.on('error', () => {});
  open.push({ close: () => server.close() }, { close: () => grpc.stop(0) }, { close: () => client.destroy() });
  const call = (headers: OutgoingHttpHeaders = {}) => {
    const sent = { ':method': 'POST', ':path': PATH, 'content-type': 'application/grpc', ...headers };
    const stream = client.request(sent);
    stream.on('error', () => {});
    const response = new Promise<IncomingHttpHeaders>((resolve) => stream.on('response', resolve));
    stream.resume();
    return { stream, response };
  };
  return { call, client, port, lines, grpc };
}

/** A method that keeps its stream and writes down what it hears. */
function recording(heardMore: (stream: TwoWayStream) => void = () => {}) {
  const heard: string[] = [];
  const streams: TwoWayStream[] = [];
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const method: RpcMethod = {
    type: 'bidi',
    admit: () => (stream) => {
      streams.push(stream);
      stream.on('data', (bytes: Buffer) => {
        heard.push(bytes.toString());
        heardMore(stream);
      });
      stream.on('end', () => heard.push('half-closed'));
      stream.on('close', () => {
        heard.push('closed');
        resolve();
      });
    },
  };
  return { heard, streams, method, closed };
}

/** Messages as they travel. */
const words = (...texts: string[]): Buffer =>
  Buffer.concat(
    texts.map((text) => {
      const head = Buffer.alloc(5);
      head.writeUInt32BE(text.length, 1);
      return Buffer.concat([head, Buffer.from(text)]);
    }),
  );

test('what was paused comes later, in order, and before the end of the call', async () => {
  const { heard, streams, method, closed } = recording((stream) => {
    stream.pause();
    systemClock.soon(() => stream.resume());
  });
  const { call } = await served(method);

  call().stream.end(words('one', 'two', 'three'));
  await untilHolds(() => expect(heard).toEqual(['one', 'two', 'three', 'half-closed']));
  streams[0]?.end();
  await closed;

  expect(heard).toEqual(['one', 'two', 'three', 'half-closed', 'closed']);
});

test('nothing of a call is read before it is admitted', async () => {
  const asked = Promise.withResolvers<void>();
  const allowed = Promise.withResolvers<void>();
  const { heard, method } = recording();
  const { call, client } = await served({
    type: 'bidi',
    async admit(caller) {
      asked.resolve();
      await allowed.promise;
      return method.admit(caller) as never;
    },
  });
  const message = 'x'.repeat(500_000);
  const { stream } = call();
  const isTaken = new Promise<boolean>((resolve) => stream.write(words(message), () => resolve(true)));
  await asked.promise;
  const isAnswered = new Promise<boolean>((resolve) => client.ping(() => resolve(false)));

  expect(await Promise.race([isTaken, isAnswered])).toBe(false);
  allowed.resolve();

  expect(await isTaken).toBe(true);
  await untilHolds(() => expect(heard).toEqual([message]));
});

test('an answer to a call that its caller has left is dropped', async () => {
  const { heard, streams, method, closed } = recording();
  const { call, lines } = await served(method);
  const { stream } = call();
  stream.write(words('one'));
  await untilHolds(() => expect(heard).toEqual(['one']));

  stream.destroy();
  await closed;
  streams[0]?.write(Buffer.from('late'));
  streams[0]?.end();
  await new Promise<void>((resolve) => systemClock.soon(resolve));

  expect(lines).toEqual([]);
});

test('a call ends when its caller waits no longer', async () => {
  const { method, closed } = recording();
  const { call } = await served(method);

  call({ 'grpc-timeout': '1m' });

  await closed;
});

test('a connection has as many calls as it may have; further ones wait or are reset', async () => {
  const { streams, method } = recording();
  const { client, call } = await served(method, systemClock, 3);
  const settled = new Promise<{ maxConcurrentStreams?: number }>((resolve) => client.once('remoteSettings', resolve));
  expect((await settled).maxConcurrentStreams).toBe(3);

  for (let at = 0; at < 5; at++) call();

  await untilHolds(() => expect(streams).toHaveLength(3));
});

test('other requests than calls are refused', async () => {
  const { call } = await served(recording().method);

  expect((await call({ 'content-type': 'text/plain' }).response)[':status']).toBe(415);
  expect(await call({ ':path': '/test.Service/Other' }).response).toMatchObject({ 'grpc-status': '12' });
});

const failing = (): never => {
  throw new TypeError('secret');
};

test.each<[string, RpcMethod]>([
  ['that admits', { type: 'bidi', admit: failing }],
  ['with one answer', { type: 'unary', admit: () => async () => failing() }],
  ['with many answers', { type: 'serverStream', admit: () => async () => failing() }],
  ['with many requests', { type: 'clientStream', admit: () => async () => failing() }],
])('an error of a method %s is logged, and shows nothing of itself', async (_, method) => {
  const { call, lines } = await served(method);

  const { stream, response } = call();
  stream.end(words('one'));

  expect(await response).toMatchObject({
    'grpc-status': '13',
    'grpc-message': expect.not.stringContaining('secret'),
  });
  expect(lines).toEqual(['gRPC call failed']);
});

test('a connection that comes after the stop is dropped', async () => {
  const { port, grpc } = await served(recording().method);
  await grpc.stop(0);

  const late = connect(port, '127.0.0.1');
  late.on('error', () => {});

  await new Promise((resolve) => late.once('close', resolve));
});

test('a stop does not wait for connections that only keep a call open', async () => {
  const { heard, method } = recording();
  const { call, grpc } = await served(method);
  call().stream.write(words('one'));
  await untilHolds(() => expect(heard).toEqual(['one']));

  await grpc.stop(0);

  await untilHolds(() => expect(heard.at(-1)).toBe('closed'));
});

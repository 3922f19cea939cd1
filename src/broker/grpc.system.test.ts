import { connect as connectHttp2, constants, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http2';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { type Clock, systemClock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Log } from '#core/log.ts';
import { untilHolds } from '#core/testing/until.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { openGrpc } from './grpc.ts';
import { asFrame } from './message-reader.ts';
import type { RpcHandler, RpcListener, RpcStream } from './transport.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

const PATH = '/test.Service/Call';

/** A served path, what its handler heard, and a client. */
async function served(handler: RpcHandler, clock: Clock = systemClock) {
  const lines: string[] = [];
  const log: Log = (_level, message) => void lines.push(message);
  const transport = openGrpc({ [PATH]: handler }, { clock, log, pingEveryMs: 60_000, pingTimeoutMs: 60_000 });
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    transport.accept(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const client = connectHttp2(`http://127.0.0.1:${port}`);
  client.on('error', () => {});
  open.push({ close: () => server.close() }, { close: () => transport.stop(0) }, { close: () => client.destroy() });
  const call = (headers: OutgoingHttpHeaders = {}) => {
    const sent = { ':method': 'POST', ':path': PATH, 'content-type': 'application/grpc', ...headers };
    const stream = client.request(sent);
    stream.on('error', () => {});
    const ended = new Promise<IncomingHttpHeaders>((resolve) => stream.on('response', resolve));
    const closed = new Promise<number>((resolve) => stream.on('close', () => resolve(stream.rstCode)));
    stream.resume();
    return { stream, response: ended, closed };
  };
  return { call, port, lines, sockets, transport };
}

/** A handler that keeps its stream and writes down what it hears. */
function recording(on: Partial<RpcListener> = {}) {
  const heard: string[] = [];
  const streams: RpcStream[] = [];
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const handler: RpcHandler = (stream) => {
    streams.push(stream);
    return {
      message(bytes) {
        heard.push(Buffer.from(bytes).toString());
        on.message?.(bytes);
      },
      halfClosed() {
        heard.push('half-closed');
        on.halfClosed?.();
      },
      closed() {
        heard.push('closed');
        resolve();
      },
    };
  };
  return { heard, streams, handler, closed };
}

const words = (...texts: string[]): Buffer => Buffer.concat(texts.map((text) => asFrame(Buffer.from(text))));

test('what was paused comes later, in order, and before the end of the call', async () => {
  const { heard, streams, handler, closed } = recording({
    message() {
      streams[0]?.pause();
      systemClock.soon(() => streams[0]?.resume());
    },
    halfClosed: () => streams[0]?.end(),
  });
  const { call } = await served(handler);

  call().stream.end(words('one', 'two', 'three'));
  await closed;

  expect(heard).toEqual(['one', 'two', 'three', 'half-closed', 'closed']);
});

test('a handler hears nothing after it has ended its call', async () => {
  const { heard, streams, handler, closed } = recording({ message: () => streams[0]?.end() });
  const { call } = await served(handler);

  call().stream.end(words('one', 'two'));
  await closed;

  expect(heard).toEqual(['one', 'closed']);
});

test('an answer to a call that its caller has left is dropped', async () => {
  const { heard, streams, handler, closed } = recording();
  const { call, lines } = await served(handler);
  const { stream } = call();
  stream.write(words('one'));
  await untilHolds(() => expect(heard).toEqual(['one']));

  stream.destroy();
  await closed;
  let isWritten = false;
  streams[0]?.write(Buffer.from('late'), () => {
    isWritten = true;
  });
  streams[0]?.end();
  await new Promise<void>((resolve) => systemClock.soon(resolve));

  expect({ isWritten, lines }).toEqual({ isWritten: false, lines: [] });
});

test('a call ends when its caller waits no longer', async () => {
  const { handler, closed } = recording();
  const { call } = await served(handler);

  call({ 'grpc-timeout': '1m' });

  await closed;
});

test('a refused call whose caller never ends its part is closed after a while', async () => {
  const clock = new VirtualClock();
  const { call } = await served(() => {
    throw new Fault('denied', 'No.');
  }, clock);
  const { stream, response, closed } = call();
  expect(await response).toMatchObject({ 'grpc-status': '7' });
  expect(stream.closed).toBe(false);

  await clock.advance(5_000);

  expect(await closed).toBe(constants.NGHTTP2_NO_ERROR);
});

test('an answered call whose caller goes on is closed after a while, with its status', async () => {
  const clock = new VirtualClock();
  const { streams, handler } = recording({
    message() {
      streams[0]?.write(Buffer.from('answer'), () => {});
      streams[0]?.end();
    },
  });
  const { call } = await served(handler, clock);
  const { stream, closed } = call();
  const trailers = new Promise<IncomingHttpHeaders>((resolve) => stream.on('trailers', resolve));
  stream.write(words('one'));
  expect(await trailers).toMatchObject({ 'grpc-status': '0' });
  stream.write(words('two'));

  await clock.advance(5_000);

  expect(await closed).toBe(constants.NGHTTP2_NO_ERROR);
});

test('other requests than calls are refused', async () => {
  const { call } = await served(recording().handler);

  expect((await call({ 'content-type': 'text/plain' }).response)[':status']).toBe(415);
  expect(await call({ ':path': '/test.Service/Other' }).response).toMatchObject({ 'grpc-status': '12' });
});

test('an error of a handler is logged, and shows nothing of itself', async () => {
  const { call, lines } = await served(() => {
    throw new TypeError('secret');
  });

  const headers = await call().response;

  expect(headers).toMatchObject({ 'grpc-status': '13', 'grpc-message': expect.not.stringContaining('secret') });
  expect(lines).toEqual(['gRPC call failed']);
});

test('a connection that comes after the stop is dropped', async () => {
  const { port, transport } = await served(recording().handler);
  const stopped = transport.stop(0);

  const late = connect(port, '127.0.0.1');
  late.on('error', () => {});

  await new Promise((resolve) => late.once('close', resolve));
  await stopped;
});

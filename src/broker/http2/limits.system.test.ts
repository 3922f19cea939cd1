// What large answers, late frames and clients that read nothing may not break.
import { connect as connectHttp2 } from 'node:http2';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { silentLog } from '#core/log.ts';
import { untilHolds } from '#core/testing/until.ts';
import { openGrpc } from '../grpc.ts';
import { ERROR, FLAG, FRAME } from './frames.ts';
import { headerBlock } from './hpack.ts';
import type { Http2Stream } from './stream.ts';
import {
  answersTo,
  DONE,
  data,
  frame,
  framed,
  HELLO,
  lastWords,
  OK,
  PING,
  REQUEST,
  request,
  type ServedHttp2,
  serveHttp2,
  windowUpdate,
} from './testing.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

/** A call of a client that lets the server send all of a large answer at once. */
async function wideCall(server: ServedHttp2) {
  const client = connectHttp2(`http://127.0.0.1:${server.port}`, { settings: { initialWindowSize: 16_000_000 } });
  client.on('error', () => {});
  open.push(server, { close: () => client.destroy() });
  await new Promise<void>((resolve) => client.once('remoteSettings', () => resolve()));
  client.setLocalWindowSize(16_000_000);
  const stream = client.request({ ':method': 'POST' });
  stream.on('error', () => {});
  return { client, stream };
}

test('a client may ping while it reads a large answer', async () => {
  const size = 8_000_000;
  const server = await serveHttp2({
    taken(stream) {
      stream.respond(OK, false);
      stream.write(framed(Buffer.alloc(size)), () => {});
      stream.end(DONE, () => {});
    },
  });
  const { client, stream } = await wideCall(server);
  stream.once('data', () => client.ping(() => {}));
  let received = 0;
  stream.on('data', (chunk: Buffer) => {
    received += chunk.length;
  });
  stream.end();
  await new Promise((resolve) => stream.once('close', resolve));

  expect(received).toBe(size);
});

test('a client that reads no answers to its requests is cut off', async () => {
  const transport = openGrpc({}, { clock: systemClock, log: silentLog, pingEveryMs: 60_000, pingTimeoutMs: 60_000 });
  let here: Socket | undefined;
  let answeredBytes = 0;
  const server = createServer((socket) => {
    here = socket;
    const write = socket.write.bind(socket) as (...args: unknown[]) => boolean;
    socket.write = ((...args: unknown[]) => {
      answeredBytes += (args[0] as Buffer).length;
      return write(...args);
    }) as typeof socket.write;
    transport.accept(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {});
  client.pause();
  open.push({ close: () => server.close() }, { close: () => transport.stop(0) }, { close: () => client.destroy() });
  /** A header that goes into the table: 13 bytes ask for the same again, and the answer has a thousand. */
  const kept = (name: string, value: string): Buffer => {
    const block = headerBlock({ [name]: value });
    const literal = block.subarray(block.indexOf(0));
    literal[0] = 0x40;
    return literal;
  };
  const path = kept(':path', `/${'x'.repeat(1_000)}`);
  const first = Buffer.concat([Buffer.from([0x83, 0x86]), path, kept('content-type', 'application/grpc')]);
  const again = Buffer.from([0x83, 0x86, 0xbf, 0xbe]);
  const flags = FLAG.endHeaders | FLAG.endStream;
  client.write(Buffer.concat([HELLO, frame(FRAME.headers, 1, first, flags)]));
  let id = 1;
  for (let round = 0; round < 1_000 && !here?.destroyed; round++) {
    // Not more at once than it may have open: those would be refused.
    const frames = Array.from({ length: 50 }, () => {
      id += 2;
      return frame(FRAME.headers, id, again, flags);
    });
    client.write(Buffer.concat(frames));
    // Each answer has more than a thousand.
    const asked = id / 2;
    while (answeredBytes < asked * 1_000 && !here?.destroyed)
      await new Promise<void>((resolve) => systemClock.soon(resolve));
  }

  expect(here?.writableLength).toBeLessThan(1_000_000);
  await untilHolds(() => expect(here?.destroyed).toBe(true));
});

test('a client that makes us reset more than a thousand streams gets ENHANCE_YOUR_CALM (11)', async () => {
  const frames = Array.from({ length: 1_001 }, (_, n) => [request(2 * n + 1), windowUpdate(2 * n + 1, 0)]);

  expect((await lastWords(HELLO, ...frames.flat())).at(-1)).toBe('goAway 0 11');
});

test('a client whose settings make the table of headers smaller is served', async () => {
  const server = await serveHttp2();
  const client = connectHttp2(`http://127.0.0.1:${server.port}`, { settings: { headerTableSize: 0 } });
  open.push(server, { close: () => client.destroy() });
  const stream = client.request({ ':method': 'POST' });
  const outcome = new Promise((resolve) => {
    for (const one of [client, stream]) one.on('error', (error: Error) => resolve(error.message));
    stream.on('trailers', ({ done }) => resolve(done));
  });
  stream.resume().end();

  expect(await outcome).toBe('yes');
});

test('much data on its way to a stream that we have given up does not end the connection', async () => {
  const late = Array<Buffer>(2_000).fill(data(1, 'x'.repeat(20)));

  const answers = await answersTo([request(1), ...late], { taken: (stream) => stream.reset(ERROR.cancel) });

  expect(answers.filter((line) => line.startsWith('goAway'))).toEqual([]);
});

test('a connection that closes lets a large last answer leave', async () => {
  const size = 12_000_000;
  const streams: Http2Stream[] = [];
  const server = await serveHttp2({ taken: (stream) => void streams.push(stream) });
  const { stream } = await wideCall(server);
  let received = 0;
  stream.on('data', (chunk: Buffer) => {
    received += chunk.length;
  });
  const closed = new Promise((resolve) => stream.once('close', resolve));
  stream.end();
  await untilHolds(() => expect(streams[0]?.isEndedThere).toBe(true));

  server.connections[0]?.close();
  streams[0]?.respond(OK, false);
  streams[0]?.write(framed(Buffer.alloc(size)), () => {});
  streams[0]?.end(DONE, () => {});
  await closed;

  expect(received).toBe(size);
});

describe('the stream alone is reset', () => {
  test.each<[string, Record<string, string>]>([
    ['a space in a name', { 'a b': 'x' }],
    ['a colon in a name', { 'a:b': 'x' }],
    ['a zero in a name', { 'a\0': 'x' }],
    ['an umlaut in a name', { ä: 'x' }],
    ['a line break in a value', { a: 'x\r\ny: z' }],
    ['a zero in a value', { a: '\0' }],
  ])('whose headers have %s', async (_, more) => {
    expect(await answersTo([request(1, FLAG.endHeaders, { ...REQUEST, ...more })])).toEqual(['reset 1 1']);
  });
});

describe('the connection ends', () => {
  test.each<[string, string, Buffer[]]>([
    ['a farewell of 7 bytes', 'goAway 0 6', [frame(FRAME.goAway, 0, Buffer.alloc(7))]],
    ['data on an even stream', 'goAway 0 1', [request(5), data(4, 'x')]],
    ['a window of an even stream', 'goAway 0 1', [request(5), windowUpdate(4, 1)]],
  ])('for %s', async (_, expected, frames) => {
    expect((await lastWords(HELLO, ...frames, PING)).at(-1)).toBe(expected);
  });
});

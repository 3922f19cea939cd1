// What a client may do too much of, and bytes of any kind in any pieces.
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { untilHolds } from '#core/testing/until.ts';
import { FLAG, FRAME, PREFACE, SETTING, settingsFrame } from './frames.ts';
import { headerBlock } from './hpack.ts';
import {
  answersTo,
  cancel,
  continuation,
  data,
  echo,
  frame,
  framed,
  HELLO,
  lastWords,
  OK,
  PING,
  REQUEST,
  rawClient,
  request,
  serveHttp2,
  wholeRequest,
  windowUpdate,
} from './testing.ts';

const NOTHING = Buffer.alloc(0);

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

/** A server and a client of bytes. */
async function connected() {
  const server = await serveHttp2();
  const client = rawClient(server.port);
  open.push(server, { close: () => client.socket.destroy() });
  return { server, client };
}

describe('the connection ends with ENHANCE_YOUR_CALM (11) for', () => {
  const half = Buffer.alloc(8_193);
  // Each of these bytes stands for a whole header.
  const short = Buffer.alloc(400, 0x82);

  test.each<[string, Buffer[]]>([
    ['headers in more than 16 frames', [request(1, 0), ...Array<Buffer>(16).fill(continuation(1, NOTHING, 0))]],
    ['headers of more than 16384 bytes', [frame(FRAME.headers, 1, half), continuation(1, half, 0)]],
    ['headers that stand for more than 16384 bytes', [frame(FRAME.headers, 1, short, FLAG.endHeaders)]],
  ])('%s', async (_, frames) => {
    expect(await lastWords(HELLO, ...frames)).toEqual(['goAway 0 11']);
  });
});

test('headers in 16 frames are read', async () => {
  const frames = [request(1, 0), ...Array<Buffer>(14).fill(continuation(1, NOTHING, 0)), continuation(1)];

  expect(await answersTo(frames)).toEqual(['headers 1 :status=200']);
});

/** So many streams that a client opens and gives up at once. */
const givenUp = (count: number, first = 1): Buffer[] =>
  Array.from({ length: count }, (_, n) => [request(first + 2 * n), cancel(first + 2 * n)]).flat();

test('a client that gives up more than a thousand streams at once gets ENHANCE_YOUR_CALM (11)', async () => {
  expect((await answersTo(givenUp(999))).filter((line) => line.startsWith('goAway'))).toEqual([]);
  expect((await lastWords(HELLO, ...givenUp(1_001))).at(-1)).toBe('goAway 0 11');
});

test('a client may give up 33 more streams each second', async () => {
  const { server, client } = await connected();
  const heard = (line: string) => client.heard().filter((other) => other === line).length;
  client.say(HELLO, ...givenUp(999), PING);
  await untilHolds(() => expect(heard('ping 0 ack')).toBe(1));

  await server.clock.advance(1_000);
  client.say(...givenUp(33, 2_001), PING);
  await untilHolds(() => expect(heard('ping 0 ack')).toBe(2));
  client.say(...givenUp(2, 2_067), PING);
  await client.closed;

  expect([heard('ping 0 ack'), client.heard().at(-1)]).toEqual([2, 'goAway 0 11']);
});

test('a client that changes its settings more than a thousand times at once gets ENHANCE_YOUR_CALM (11)', async () => {
  const changes = Array.from({ length: 1_001 }, (_, n) => settingsFrame([[SETTING.initialWindow, n]]));

  expect((await lastWords(HELLO, ...changes)).at(-1)).toBe('goAway 0 11');
});

test('a client that has more than a thousand requests refused gets ENHANCE_YOUR_CALM (11)', async () => {
  const requests = Array.from({ length: 1_001 }, (_, n) => request(2 * n + 1, FLAG.endHeaders, {}));

  expect((await lastWords(HELLO, ...requests)).at(-1)).toBe('goAway 0 11');
});

test('a client that reads no answers to its pings is cut off', async () => {
  const { server, client } = await connected();
  const pings = Buffer.concat(Array<Buffer>(4_000).fill(PING));
  await untilHolds(() => expect(server.sockets).toHaveLength(1));
  const [socket] = server.sockets;
  client.socket.pause();

  client.say(HELLO);
  // The kernel keeps some megabytes for both sides.
  for (let n = 0; n < 1_000 && !socket?.destroyed; n++)
    await new Promise((resolve) => client.socket.write(pings, resolve));

  expect(socket?.destroyed).toBe(true);
});

test('data count as written when the system has taken them, not before', async () => {
  let isWritten = false;
  const server = await serveHttp2({
    taken(stream) {
      stream.respond(OK, false);
      stream.write(framed(Buffer.alloc(30_000_000)), () => {
        isWritten = true;
      });
    },
  });
  const client = rawClient(server.port);
  open.push(server, { close: () => client.socket.destroy() });
  client.socket.pause();
  client.say(PREFACE, settingsFrame([[SETTING.initialWindow, 2 ** 30]]), windowUpdate(0, 2 ** 30), request(1));
  await untilHolds(() => expect(server.sockets[0]?.writableLength).toBeGreaterThan(0));
  expect(isWritten).toBe(false);

  client.socket.resume();

  await untilHolds(() => expect(isWritten).toBe(true));
});

test('a client is not read while what it sent waits for its turn', async () => {
  const waiting: (() => void)[] = [];
  const server = await serveHttp2({ inTurn: (work) => void waiting.push(work) });
  const client = rawClient(server.port);
  open.push(server, { close: () => client.socket.destroy() });
  client.say(HELLO, request(1), data(1, 'one'));
  await untilHolds(() => expect(waiting).toHaveLength(1));
  expect([server.sockets[0]?.isPaused(), client.heard()]).toEqual([true, []]);

  client.say(data(1, 'two', FLAG.endStream));
  waiting.shift()?.();
  await untilHolds(() => expect(waiting).toHaveLength(1));
  waiting.shift()?.();

  const expected = ['headers 1 :status=200', 'data 1 one', 'data 1 two', 'headers 1 done=yes end'];
  await untilHolds(() => expect(client.heard()).toEqual(expected));
});

/** Requests with all that frames may have: padding, priorities, headers in pieces, trailers. */
function conversation(): Buffer {
  const block = headerBlock(REQUEST);
  const padded = Buffer.concat([Buffer.from([3, 0, 0, 0, 0, 0]), block.subarray(0, 5), Buffer.alloc(3)]);
  return Buffer.concat([
    HELLO,
    frame(FRAME.headers, 1, padded, FLAG.padded | FLAG.priority),
    continuation(1, block.subarray(5, 9), 0),
    continuation(1, block.subarray(9)),
    frame(FRAME.data, 1, Buffer.from('\x02one__'), FLAG.padded),
    wholeRequest(3),
    settingsFrame([[SETTING.initialWindow, 1]]),
    request(5),
    data(5, 'two', FLAG.endStream),
    windowUpdate(5, 1),
    data(1, 'three'),
    settingsFrame([[SETTING.initialWindow, 65_535]]),
    frame(FRAME.headers, 1, headerBlock({ a: 'b' }), FLAG.endHeaders | FLAG.endStream),
    windowUpdate(7, 1),
  ]);
}

/** What the server says to these bytes, which come to it in such pieces, in memory that is used again. */
async function answersToPieces(bytes: Buffer, cuts: readonly number[]): Promise<string[]> {
  const { server, client } = await connected();
  await untilHolds(() => expect(server.sockets).toHaveLength(1));
  const ends = [...new Set(cuts.map((cut) => cut % bytes.length))].sort((a, b) => a - b);
  for (const [n, end] of [...ends, bytes.length].entries()) {
    const piece = Buffer.from(bytes.subarray(ends[n - 1] ?? 0, end));
    server.sockets[0]?.emit('data', piece);
    piece.fill(0xff);
  }
  await client.closed;
  return client.heard();
}

describe('frames are the same', () => {
  const bytes = conversation();

  test('byte by byte as in one piece', async () => {
    const expected = [
      'headers 1 :status=200',
      'data 1 one',
      'headers 3 :status=200',
      'headers 3 done=yes end',
      'headers 5 :status=200',
      'data 5 t',
      'data 5 w',
      'data 1 three',
      'data 5 o',
      'headers 5 done=yes end',
      'headers 1 done=yes end',
      'goAway 0 1',
    ];

    expect(await answersToPieces(bytes, [])).toEqual(expected);
    expect(await answersToPieces(bytes, [...bytes.keys()])).toEqual(expected);
  });

  test('however the network cuts them', async () => {
    const whole = await answersToPieces(bytes, []);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(), { maxLength: 30 }), async (cuts) => {
        expect(await answersToPieces(bytes, cuts)).toEqual(whole);
      }),
      { numRuns: 25 },
    );
  });
});

const anyFrame = fc
  .record({
    type: fc.integer({ min: 0, max: 10 }),
    flags: fc.nat({ max: 255 }),
    stream: fc.integer({ min: 0, max: 6 }),
    payload: fc.oneof(
      fc.uint8Array({ maxLength: 20 }),
      fc.constantFrom(headerBlock(REQUEST), Buffer.alloc(4), Buffer.alloc(8)),
    ),
  })
  .map(({ type, stream, payload, flags }) => frame(type, stream, payload, flags));

test('whatever bytes come, all streams are closed with the connection, and the next client is served', async () => {
  let opened = 0;
  let closed = 0;
  const server = await serveHttp2({
    taken(stream) {
      opened += 1;
      echo(stream, () => {
        closed += 1;
      });
    },
  });
  open.push(server);
  const anyBytes = fc.array(fc.oneof(fc.uint8Array({ maxLength: 100 }), anyFrame), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(anyBytes, async (parts) => {
      const wild = rawClient(server.port);
      wild.say(HELLO, request(1), ...parts);
      wild.socket.end();
      await wild.closed;

      const tame = rawClient(server.port);
      tame.say(HELLO, request(1), data(1, 'x', FLAG.endStream));
      await untilHolds(() => expect(tame.heard()).toHaveLength(3));
      tame.socket.destroy();

      expect(tame.heard()).toEqual(['headers 1 :status=200', 'data 1 x', 'headers 1 done=yes end']);
      await untilHolds(() => expect(closed).toBe(opened));
    }),
    { numRuns: 80 },
  );
  expect(opened).toBeGreaterThanOrEqual(160);
});

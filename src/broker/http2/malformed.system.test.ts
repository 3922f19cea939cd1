// What a client may do wrong, frame by frame.
import { describe, expect, test } from 'vitest';
import { untilHolds } from '#core/testing/until.ts';
import { FLAG, FRAME, HEAD_BYTES, PREFACE, SETTING, settingsFrame } from './frames.ts';
import { headerBlock } from './hpack.ts';
import {
  answersTo,
  cancel,
  continuation,
  data,
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
const LARGEST_WINDOW = 2 ** 31 - 1;
const UNKNOWN = 0xfa;

describe('the connection ends with a protocol error (1) for', () => {
  test.each<[string, Buffer[]]>([
    ['data on no stream', [data(0, 'x')]],
    ['data on a stream that was not opened', [data(1, 'x')]],
    ['a request on no stream', [request(0)]],
    ['a request on an even stream', [request(2)]],
    ['a priority on no stream', [frame(FRAME.priority, 0, Buffer.alloc(5))]],
    ['a reset of no stream', [cancel(0)]],
    ['a reset of a stream that was not opened', [request(1), cancel(3)]],
    ['settings on a stream', [frame(FRAME.settings, 1)]],
    ['a push', [frame(FRAME.pushPromise, 1, Buffer.alloc(4))]],
    ['a ping on a stream', [frame(FRAME.ping, 1, Buffer.alloc(8))]],
    ['a farewell on a stream', [frame(FRAME.goAway, 1, Buffer.alloc(8))]],
    ['a window of a stream that was not opened', [windowUpdate(1, 1)]],
    ['a window of the connection that grows by nothing', [windowUpdate(0, 0)]],
    ['headers that go on before they began', [continuation(1)]],
    ['headers that go on after their end', [request(1), continuation(1)]],
    ['headers that another stream goes on with', [request(1, 0), continuation(3)]],
    ['headers that data interrupts', [request(1), request(3, 0), data(1, 'x')]],
    ['headers that a ping interrupts', [request(1, 0), PING]],
    ['headers that an unknown frame interrupts', [request(1, 0), frame(UNKNOWN, 1)]],
    ['headers that other headers interrupt', [request(1, 0), request(3)]],
    ['padding longer than its data', [request(1), frame(FRAME.data, 1, Buffer.from([2, 0]), FLAG.padded)]],
    ['padding longer than its headers', [frame(FRAME.headers, 1, Buffer.from([9, 0]), FLAG.padded)]],
    ['padding without its length', [request(1), frame(FRAME.data, 1, NOTHING, FLAG.padded)]],
    ['a setting of pushes that is neither yes nor no', [settingsFrame([[SETTING.enablePush, 2]])]],
    ['a setting of frames shorter than all must take', [settingsFrame([[SETTING.longestFrame, 16_383]])]],
    ['a setting of frames longer than any', [settingsFrame([[SETTING.longestFrame, 2 ** 24]])]],
  ])('%s', async (_, frames) => {
    expect((await lastWords(HELLO, ...frames)).at(-1)).toBe('goAway 0 1');
  });

  test.each<[string, Buffer]>([
    ['another preface', Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n\r\n')],
    ['a first frame that is not settings', Buffer.concat([PREFACE, PING])],
    [
      'a first frame that only confirms settings',
      Buffer.concat([PREFACE, frame(FRAME.settings, 0, NOTHING, FLAG.ack), PING]),
    ],
    ['a first frame of an unknown type', Buffer.concat([PREFACE, frame(UNKNOWN, 0)])],
  ])('%s', async (_, bytes) => {
    expect(await lastWords(bytes)).toEqual(['goAway 0 1']);
  });
});

describe('the connection ends with a frame size error (6) for', () => {
  test.each<[string, Buffer[]]>([
    ['a frame of more than 16384 bytes', [request(1), data(1, 'x'.repeat(16_385))]],
    ['the head alone of such a frame', [data(1, 'x'.repeat(16_385)).subarray(0, HEAD_BYTES)]],
    ['a ping of 7 bytes', [frame(FRAME.ping, 0, Buffer.alloc(7))]],
    ['settings of 5 bytes', [frame(FRAME.settings, 0, Buffer.alloc(5))]],
    ['settings that confirm and say something', [frame(FRAME.settings, 0, Buffer.alloc(6), FLAG.ack)]],
    ['a reset of 3 bytes', [request(1), frame(FRAME.reset, 1, Buffer.alloc(3))]],
    ['a window of 3 bytes', [frame(FRAME.windowUpdate, 0, Buffer.alloc(3))]],
    ['a priority of 4 bytes', [frame(FRAME.priority, 1, Buffer.alloc(4))]],
    ['headers too short for their priority', [frame(FRAME.headers, 1, Buffer.alloc(4), FLAG.priority)]],
  ])('%s', async (_, frames) => {
    expect((await lastWords(HELLO, ...frames)).at(-1)).toBe('goAway 0 6');
  });
});

describe('the connection ends with a flow control error (3) for', () => {
  test.each<[string, Buffer[]]>([
    ['a window of the connection that overflows', [windowUpdate(0, LARGEST_WINDOW)]],
    ['a setting of windows that are too large', [settingsFrame([[SETTING.initialWindow, 2 ** 31]])]],
    [
      'a setting with which the window of an open stream overflows',
      [request(1), windowUpdate(1, LARGEST_WINDOW - 65_535), settingsFrame([[SETTING.initialWindow, 65_536]])],
    ],
  ])('%s', async (_, frames) => {
    expect((await lastWords(HELLO, ...frames)).at(-1)).toBe('goAway 0 3');
  });
});

test('the connection ends with a compression error (9) for headers that are not HPACK', async () => {
  expect(await lastWords(HELLO, frame(FRAME.headers, 1, Buffer.from([0x80]), FLAG.endHeaders))).toEqual(['goAway 0 9']);
});

describe('the stream alone is reset', () => {
  const block = frame(FRAME.headers, 1, headerBlock({ a: 'b' }), FLAG.endHeaders);

  test.each<[string, string, Buffer[]]>([
    ['whose window grows by nothing', 'reset 1 1', [request(1), windowUpdate(1, 0)]],
    ['whose window overflows', 'reset 1 3', [request(1), windowUpdate(1, LARGEST_WINDOW)]],
    [
      'that gets more data than its window',
      'reset 1 3',
      [request(1), ...Array<Buffer>(4).fill(data(1, 'x'.repeat(16_384)))],
    ],
    ['that gets data after its end', 'reset 1 5', [wholeRequest(1), data(1, 'x')]],
    ['that gets headers after its end', 'reset 1 5', [wholeRequest(1), wholeRequest(1)]],
    ['that gets data after it was given up', 'reset 1 5', [request(1), cancel(1), data(1, 'x')]],
    ['that gets headers after it was given up', 'reset 1 5', [request(1), cancel(1), wholeRequest(1)]],
    ['with headers in the midst of its data', 'reset 1 1', [request(1), block]],
    ['with a second request behind its data', 'reset 1 1', [request(1), wholeRequest(1)]],
    ['that is one more than the client may have open', 'reset 5 7', [request(1), request(3), request(5)]],
  ])('%s', async (_, expected, frames) => {
    const answers = await answersTo(frames, { taken() {}, mostStreams: 2 });

    expect(answers.filter((line) => !line.startsWith('windowUpdate 0'))).toEqual([expected]);
  });

  test.each<[string, Record<string, string>]>([
    ['lack a path', { ':method': 'POST', ':scheme': 'http' }],
    ['lack a method', { ':scheme': 'http', ':path': '/' }],
    ['lack a scheme', { ':method': 'POST', ':path': '/' }],
    ['have capital letters', { ...REQUEST, Accept: 'x' }],
    ['have no name', { ...REQUEST, '': 'x' }],
    ['speak of the connection', { ...REQUEST, connection: 'close' }],
    ['want more than trailers', { ...REQUEST, te: 'gzip' }],
    ['have an unknown name behind a colon', { ...REQUEST, ':other': 'x' }],
    ['have a path behind others', { accept: 'x', ...REQUEST }],
  ])('whose headers %s', async (_, headers) => {
    expect(await answersTo([request(1, FLAG.endHeaders, headers)])).toEqual(['reset 1 1']);
  });

  test('whose headers have two paths', async () => {
    const twice = Buffer.concat([headerBlock(REQUEST), Buffer.from([0x84])]);

    expect(await answersTo([frame(FRAME.headers, 1, twice, FLAG.endHeaders)])).toEqual(['reset 1 1']);
  });

  test('that is one too many, until another is over', async () => {
    const frames = [request(1), request(3), cancel(1), request(5)];

    expect(await answersTo(frames, { mostStreams: 1 })).toEqual([
      'headers 1 :status=200',
      'reset 3 7',
      'headers 5 :status=200',
    ]);
  });
});

test('a request behind our farewell is refused, and those before it are answered', async () => {
  const server = await serveHttp2();
  const client = rawClient(server.port);
  client.say(HELLO, request(1), PING);
  await untilHolds(() => expect(client.heard()).toContain('ping 0 ack'));

  server.connections[0]?.close();
  client.say(request(3), data(1, 'x', FLAG.endStream));
  await client.closed;
  await server.close();

  expect(client.heard().slice(2)).toEqual(['goAway 0 0', 'reset 3 7', 'data 1 x', 'headers 1 done=yes end']);
});

test('streams that wait for the window of the connection get it in turn', async () => {
  const frames = [
    settingsFrame([[SETTING.initialWindow, 100_000]]),
    request(1),
    request(3),
    windowUpdate(0, 2),
    windowUpdate(0, 2),
    windowUpdate(0, 2),
  ];
  const answers = await answersTo(frames, {
    taken(stream) {
      stream.respond(OK, false);
      stream.write(framed('x'.repeat(80_000)), () => {});
    },
  });

  expect(answers.slice(-3)).toEqual(['data 1 xx', 'data 3 xx', 'data 1 xx']);
});

test('what needs no answer gets none', async () => {
  const frames = [
    frame(UNKNOWN, 0, Buffer.from('x')),
    settingsFrame([[UNKNOWN, 1]]),
    frame(FRAME.settings, 0, NOTHING, FLAG.ack),
    frame(FRAME.priority, 7, Buffer.alloc(5)),
    frame(FRAME.goAway, 0, Buffer.alloc(8)),
    request(1),
    cancel(1),
    cancel(1),
    windowUpdate(1, LARGEST_WINDOW),
    frame(FRAME.ping, 0, Buffer.alloc(8), FLAG.ack),
  ];

  expect(await answersTo(frames, { taken() {} })).toEqual([]);
});

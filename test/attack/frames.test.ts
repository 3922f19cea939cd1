// Floods of small frames of HTTP/2, from clients that read nothing: each frame costs its sender a few bytes.
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, test } from 'vitest';
import { breach, openTarget, say, type Target } from './target.ts';

let target: Target;
beforeAll(async () => {
  target = await openTarget();
});
afterAll(() => target?.close());

const MB = 2 ** 20;
const CONNECTIONS = 8;
const BYTES = 4 * MB;
const NOTHING = Buffer.alloc(0);

// RFC 9113: types and flags of frames, and the setting that they change.
const FRAME = { data: 0, headers: 1, priority: 2, reset: 3, settings: 4, ping: 6, windowUpdate: 8, continuation: 9 };
const END_HEADERS = 4;
const INITIAL_WINDOW = 4;
const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

function frame(type: number, stream: number, payload: Uint8Array = NOTHING, flags = 0): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

function numberFrame(type: number, stream: number, value: number): Buffer {
  const payload = Buffer.alloc(4);
  payload.writeUInt32BE(value);
  return frame(type, stream, payload);
}

function windowSetting(bytes: number): Buffer {
  const payload = Buffer.alloc(6);
  payload.writeUInt16BE(INITIAL_WINDOW);
  payload.writeUInt32BE(bytes, 2);
  return frame(FRAME.settings, 0, payload);
}

const text = (words: string): Buffer => Buffer.concat([Buffer.from([words.length]), Buffer.from(words)]);

/** Headers of HPACK (RFC 7541 6.2); `kept` 0x40 puts path and content type into the table, as its entries 63 and 62. */
const blockOf = (kept: 0 | 0x40): Buffer =>
  Buffer.concat([
    // POST and http are whole entries of the static table; :path has the number 4 there.
    Buffer.from([0x83, 0x86, kept | 4]),
    text('/velda.BrokerService/AgentUpdate'),
    Buffer.from([kept]),
    text('content-type'),
    text('application/grpc'),
  ]);
const block = blockOf(0);
const keptBlock = blockOf(0x40);
const shortBlock = Buffer.from([0x83, 0x86, 0xbf, 0xbe]);
const call = (stream: number): Buffer => frame(FRAME.headers, stream, block, END_HEADERS);
/** The first says its headers, the others have them in four bytes. */
const shortCall = (n: number): Buffer => frame(FRAME.headers, 2 * n + 1, n === 0 ? keptBlock : shortBlock, END_HEADERS);

/** All that one client sends, as often as it takes. */
function flood(step: (n: number) => Buffer): Buffer {
  const parts: Buffer[] = [PREFACE, frame(FRAME.settings, 0)];
  for (let bytes = 0, n = 0; bytes < BYTES; n++) {
    const part = step(n);
    parts.push(part);
    bytes += part.length;
  }
  return Buffer.concat(parts);
}

const FLOODS: Readonly<Record<string, () => Buffer>> = {
  pings: () => flood(() => frame(FRAME.ping, 0, Buffer.alloc(8))),
  settings: () => flood((n) => windowSetting(n % 100_000)),
  'empty data': () => flood((n) => (n === 0 ? call(1) : frame(FRAME.data, 1))),
  'data of one byte': () => flood((n) => (n === 0 ? call(1) : frame(FRAME.data, 1, Buffer.alloc(1)))),
  'windows of a hundred calls': () => flood((n) => (n < 100 ? call(2 * n + 1) : numberFrame(FRAME.windowUpdate, 0, 1))),
  'calls that are given up': () =>
    flood((n) => Buffer.concat([call(2 * n + 1), numberFrame(FRAME.reset, 2 * n + 1, 8)])),
  'calls beyond the limit': () => flood((n) => call(2 * n + 1)),
  'short calls beyond the limit': () => flood(shortCall),
  'short calls that are given up': () =>
    flood((n) => Buffer.concat([shortCall(n), numberFrame(FRAME.reset, 2 * n + 1, 8)])),
  'malformed calls': () => flood((n) => frame(FRAME.headers, 2 * n + 1, Buffer.from([0x82]), END_HEADERS)),
  'headers without an end': () => flood((n) => frame(n === 0 ? FRAME.headers : FRAME.continuation, 1, Buffer.alloc(1))),
  priorities: () => flood(() => frame(FRAME.priority, 3, Buffer.alloc(5))),
};

/** Until all was taken, or the server has had enough. */
function sent(socket: Socket, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    socket.on('error', () => {}).once('close', () => resolve());
    socket.pause();
    socket.write(bytes, () => resolve());
  });
}

test.each(Object.keys(FLOODS))('%s, from 8 clients that read nothing', async (what) => {
  const bytes = FLOODS[what]?.() ?? NOTHING;
  const before = target.memoryMb();
  await target.whileOthersAsk(`a flood of ${what}`, async (other) => {
    const sockets = Array.from({ length: CONNECTIONS }, () => connect(target.grpc, '127.0.0.1'));
    await Promise.all(sockets.map((socket) => sent(socket, bytes)));
    await other.answered(100);
    const taken = target.memoryMb() - before;
    say(`a flood of ${what}: ${taken.toFixed(0)} MB more`);
    if (taken > 200) breach(`A flood of ${what} took ${taken.toFixed(0)} MB.`);
    for (const socket of sockets) socket.destroy();
  });
  target.mustBeSound();
});

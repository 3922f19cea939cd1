// Floods of small frames of HTTP/2, from clients that read nothing: each frame costs its sender a few bytes.
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, test } from 'vitest';
import { FLAG, FRAME, frameOf, numberFrame, PREFACE, SETTING, settingsFrame } from '../../src/broker/http2/frames.ts';
import { headerBlock } from '../../src/broker/http2/hpack.ts';
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

const block = headerBlock({
  ':method': 'POST',
  ':scheme': 'http',
  ':path': '/velda.BrokerService/AgentUpdate',
  'content-type': 'application/grpc',
});

const frame = (type: number, stream: number, payload: Uint8Array = NOTHING, flags = 0): Buffer =>
  frameOf({ type, flags, stream }, payload);
const call = (stream: number): Buffer => frame(FRAME.headers, stream, block, FLAG.endHeaders);

/** All that one client sends, as often as it takes. */
function flood(step: (n: number) => Buffer): Buffer {
  const parts: Buffer[] = [PREFACE, settingsFrame([])];
  for (let bytes = 0, n = 0; bytes < BYTES; n++) {
    const part = step(n);
    parts.push(part);
    bytes += part.length;
  }
  return Buffer.concat(parts);
}

const FLOODS: Readonly<Record<string, () => Buffer>> = {
  pings: () => flood(() => frame(FRAME.ping, 0, Buffer.alloc(8))),
  settings: () => flood((n) => settingsFrame([[SETTING.initialWindow, n % 100_000]])),
  'empty data': () => flood((n) => (n === 0 ? call(1) : frame(FRAME.data, 1))),
  'data of one byte': () => flood((n) => (n === 0 ? call(1) : frame(FRAME.data, 1, Buffer.alloc(1)))),
  'windows of a hundred calls': () => flood((n) => (n < 100 ? call(2 * n + 1) : numberFrame(FRAME.windowUpdate, 0, 1))),
  'calls that are given up': () =>
    flood((n) => Buffer.concat([call(2 * n + 1), numberFrame(FRAME.reset, 2 * n + 1, 8)])),
  'calls beyond the limit': () => flood((n) => call(2 * n + 1)),
  'malformed calls': () => flood((n) => frame(FRAME.headers, 2 * n + 1, Buffer.from([0x82]), FLAG.endHeaders)),
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

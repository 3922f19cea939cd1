// Connections behind a real server on loopback, a client of bytes, and frames as text.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { until } from '#core/testing/until.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { Http2Connection, type Http2Options } from './connection.ts';
import {
  FIRST_WINDOW_BYTES,
  FLAG,
  FRAME,
  type FrameHead,
  frameOf,
  HEAD_BYTES,
  numberFrame,
  PREFACE,
  settingsFrame,
} from './frames.ts';
import { HeaderReader, headerBlock } from './hpack.ts';
import { Http2Stream, type StreamCarrier } from './stream.ts';

const NAMES = Object.fromEntries(Object.entries(FRAME).map(([name, type]) => [type, name]));

interface Frame extends FrameHead {
  readonly payload: Buffer;
}

/** The whole frames at the beginning of these bytes. */
export function framesIn(bytes: Buffer): Frame[] {
  const frames: Frame[] = [];
  for (let at = 0; at + HEAD_BYTES <= bytes.length; ) {
    const end = at + HEAD_BYTES + bytes.readUIntBE(at, 3);
    if (end > bytes.length) break;
    const payload = bytes.subarray(at + HEAD_BYTES, end);
    frames.push({ type: bytes[at + 3] ?? 0, flags: bytes[at + 4] ?? 0, stream: bytes.readUInt32BE(at + 5), payload });
    at = end;
  }
  return frames;
}

function contentOf({ type, payload }: Frame): string {
  switch (type) {
    case FRAME.data:
      return payload.toString('latin1');
    case FRAME.headers:
      return new HeaderReader()
        .read(payload)
        .map(([name, value]) => `${name}=${value}`)
        .join();
    case FRAME.reset:
    case FRAME.windowUpdate:
      return String(payload.readUInt32BE(0));
    case FRAME.goAway:
      return String(payload.readUInt32BE(4));
    default:
      return '';
  }
}

/** As `data 1 abc` or `headers 1 :status=200 end`; errors by their numbers, as `reset 1 8` or `goAway 0 1`. */
export function textOf(frame: Frame): string {
  const { type, flags, stream } = frame;
  const isEnd = (type === FRAME.data || type === FRAME.headers) && flags & FLAG.endStream;
  const isAck = (type === FRAME.ping || type === FRAME.settings) && flags & FLAG.ack;
  return [NAMES[type], stream, contentOf(frame), isEnd ? 'end' : '', isAck ? 'ack' : '']
    .filter((part) => part !== '')
    .join(' ');
}

/** Data as a stream takes it. */
export const framed = (data: Uint8Array | string): Buffer =>
  Buffer.concat([Buffer.alloc(HEAD_BYTES), typeof data === 'string' ? Buffer.from(data, 'latin1') : data]);

export const OK = headerBlock({ ':status': '200' });
export const DONE = headerBlock({ done: 'yes' });

/** Sends back what comes, then trailers. */
export function echo(stream: Http2Stream, closed: () => void = () => {}): void {
  stream.respond(OK, false);
  stream.listen({
    data: (chunk) => stream.write(framed(chunk), () => {}),
    ended: () => stream.end(DONE, () => {}),
    closed,
  });
}

interface Limits {
  readonly stream?: number;
  readonly connection?: number;
  readonly frame?: number;
}

/** A stream, and in order all that it sends and asks of its connection. */
export function openStream({
  stream: window = FIRST_WINDOW_BYTES,
  connection = FIRST_WINDOW_BYTES,
  frame = 16_384,
}: Limits = {}) {
  const log: string[] = [];
  const carrier: StreamCarrier = {
    sendWindow: connection,
    longestFrame: frame,
    send(bytes, written) {
      log.push(...framesIn(bytes).map(textOf));
      written?.();
    },
    widen: (id, bytes) => void log.push(`widen ${id} ${bytes}`),
    reset(one, code) {
      log.push(`reset ${one.id} ${code}`);
      one.close();
    },
    blocked: () => {},
    forget: ({ id }) => void log.push(`forget ${id}`),
  };
  const stream = new Http2Stream(1, window, carrier);
  const write = (text: string): void => stream.write(framed(text), () => log.push(`written ${text}`));
  const end = (): void => stream.end(DONE, () => log.push('sent'));
  return { stream, carrier, log, write, end };
}

/** Someone who listens to it, and what they hear. */
export function listenTo(stream: Http2Stream, afterData: () => void = () => {}): string[] {
  const heard: string[] = [];
  stream.listen({
    data(chunk) {
      heard.push(chunk.toString());
      afterData();
    },
    ended: () => heard.push('ended'),
    closed: () => heard.push('closed'),
  });
  return heard;
}

export interface ServedHttp2 {
  readonly port: number;
  readonly clock: VirtualClock;
  /** Of every client, in the order in which they came. */
  readonly connections: readonly Http2Connection[];
  readonly sockets: readonly Socket[];
  close(): Promise<void>;
}

export async function serveHttp2(options: Partial<Http2Options> = {}): Promise<ServedHttp2> {
  const clock = new VirtualClock();
  const connections: Http2Connection[] = [];
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => {});
    sockets.push(socket);
    connections.push(
      new Http2Connection(socket, {
        mostStreams: 100,
        clock,
        inTurn: (work) => work(),
        later: (run) => run(),
        taken: (stream) => echo(stream),
        emptied() {},
        ...options,
      }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    clock,
    connections,
    sockets,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

const NOTHING = Buffer.alloc(0);
export const REQUEST = { ':method': 'POST', ':scheme': 'http', ':path': '/' };
export const HELLO = Buffer.concat([PREFACE, settingsFrame([])]);

export const frame = (type: number, stream: number, payload: Uint8Array = NOTHING, flags = 0): Buffer =>
  frameOf({ type, flags, stream }, payload);
export const PING = frame(FRAME.ping, 0, Buffer.alloc(8));
export const request = (
  stream: number,
  flags: number = FLAG.endHeaders,
  headers: Record<string, string> = REQUEST,
): Buffer => frame(FRAME.headers, stream, headerBlock(headers), flags);
/** A request without a body. */
export const wholeRequest = (stream: number): Buffer => request(stream, FLAG.endHeaders | FLAG.endStream);
export const continuation = (stream: number, payload: Uint8Array = NOTHING, flags: number = FLAG.endHeaders): Buffer =>
  frame(FRAME.continuation, stream, payload, flags);
export const data = (stream: number, text: string, flags = 0): Buffer =>
  frame(FRAME.data, stream, Buffer.from(text, 'latin1'), flags);
export const windowUpdate = (stream: number, bytes: number): Buffer => numberFrame(FRAME.windowUpdate, stream, bytes);
export const cancel = (stream: number): Buffer => numberFrame(FRAME.reset, stream, 8);

export interface RawClient {
  readonly socket: Socket;
  say(...parts: readonly Uint8Array[]): void;
  /** What the server has said so far, apart from its settings. */
  heard(): string[];
  readonly closed: Promise<void>;
}

/** A client that sends bytes as they are. */
export function rawClient(port: number): RawClient {
  const chunks: Buffer[] = [];
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  const lines = (): string[] => framesIn(Buffer.concat(chunks)).map(textOf);
  return {
    socket,
    say: (...parts) => void socket.write(Buffer.concat(parts)),
    heard: () => lines().filter((line) => !line.startsWith('settings')),
    closed: new Promise<void>((resolve) => socket.on('close', () => resolve())),
  };
}

/** All that the server says to a client that sends these bytes and no more. */
export async function lastWords(...bytes: readonly Uint8Array[]): Promise<string[]> {
  const server = await serveHttp2();
  const client = rawClient(server.port);
  client.socket.end(Buffer.concat(bytes));
  await client.closed;
  await server.close();
  return client.heard();
}

/** What the server says to these frames until it answers a ping behind them. */
export async function answersTo(frames: readonly Uint8Array[], options?: Partial<Http2Options>): Promise<string[]> {
  const server = await serveHttp2(options);
  const client = rawClient(server.port);
  client.say(HELLO, ...frames, PING);
  await until('an answer to the ping', () => client.heard().includes('ping 0 ack'));
  await server.close();
  return client.heard().slice(0, -1);
}

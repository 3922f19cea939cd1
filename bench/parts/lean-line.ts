// The little of HTTP/2 (RFC 9113) that an agent's stream takes. Agents of a load share the machine with the server: with a
// whole gRPC client they would take more of it than the server does.
import { connect, type Socket } from 'node:net';
import type { BrokerAddress } from '../../src/agent/address.ts';
import type { ClientStream, Line, StreamEvents } from '../../src/agent/dial.ts';

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const FRAME = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6, goAway: 7, windowUpdate: 8 } as const;
const FLAG = { ack: 1, endStream: 1, endHeaders: 4 } as const;
const INITIAL_WINDOW_SIZE = 4;
const FRAME_HEAD_BYTES = 9;
const MESSAGE_HEAD_BYTES = 5;
const FIRST_WINDOW_BYTES = 65_535;
const LARGEST_WINDOW_BYTES = 2 ** 31 - 1;
const STREAM = 1;
const UNAVAILABLE = 14;

function frame(type: number, flags: number, stream: number, payload: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(FRAME_HEAD_BYTES + payload.length);
  bytes.writeUIntBE(payload.length, 0, 3);
  bytes[3] = type;
  bytes[4] = flags;
  bytes.writeUInt32BE(stream, 5);
  bytes.set(payload, FRAME_HEAD_BYTES);
  return bytes;
}

/** A number of HPACK with a prefix of seven bits (RFC 7541 5.1). */
function hpackLength(length: number): number[] {
  if (length < 127) return [length];
  const bytes = [127];
  let rest = length - 127;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return [...bytes, rest];
}

const hpackText = (text: string): Buffer =>
  Buffer.from([...hpackLength(Buffer.byteLength(text)), ...Buffer.from(text)]);

/** Literal fields without an index; the method and the scheme are in the static table. */
function headerBlock(path: string, authority: string, headers: Readonly<Record<string, string>>): Buffer {
  const [post, http, pathName, authorityName, newName] = [0x83, 0x86, 0x04, 0x01, 0x00];
  const fields = Object.entries({ 'content-type': 'application/grpc', te: 'trailers', ...headers });
  return Buffer.concat([
    Buffer.from([post, http, pathName]),
    hpackText(path),
    Buffer.from([authorityName]),
    hpackText(authority),
    ...fields.flatMap(([name, value]) => [Buffer.from([newName]), hpackText(name), hpackText(value)]),
  ]);
}

/** Never asks for more: what an agent of a load hears stays far below it. */
function widestWindows(): Buffer {
  const setting = Buffer.alloc(6);
  setting.writeUInt16BE(INITIAL_WINDOW_SIZE, 0);
  setting.writeUInt32BE(LARGEST_WINDOW_BYTES, 2);
  const more = Buffer.alloc(4);
  more.writeUInt32BE(LARGEST_WINDOW_BYTES - FIRST_WINDOW_BYTES, 0);
  return Buffer.concat([frame(FRAME.settings, 0, 0, setting), frame(FRAME.windowUpdate, 0, 0, more)]);
}

class LeanStream implements ClientStream {
  readonly #socket: Socket;
  readonly #events: StreamEvents;
  #received: Buffer = Buffer.alloc(0);
  #body: Buffer = Buffer.alloc(0);
  #waiting: { readonly bytes: Buffer; readonly written: () => void }[] = [];
  // How much may be sent: on this stream, on the connection.
  #window = FIRST_WINDOW_BYTES;
  #connectionWindow = FIRST_WINDOW_BYTES;
  #firstWindow = FIRST_WINDOW_BYTES;
  #isOver = false;

  constructor(socket: Socket, opening: Buffer, events: StreamEvents) {
    this.#socket = socket;
    this.#events = events;
    socket.on('data', (bytes: Buffer) => this.#receive(bytes));
    socket.on('error', ({ message }) => this.#end(message));
    socket.on('close', () => this.#end('The connection was closed.'));
    socket.write(Buffer.concat([PREFACE, widestWindows(), opening]));
  }

  write(message: Uint8Array, written: () => void): void {
    const bytes = Buffer.allocUnsafe(FRAME_HEAD_BYTES + MESSAGE_HEAD_BYTES + message.length);
    bytes.writeUIntBE(MESSAGE_HEAD_BYTES + message.length, 0, 3);
    bytes[3] = FRAME.data;
    bytes[4] = 0;
    bytes.writeUInt32BE(STREAM, 5);
    bytes[FRAME_HEAD_BYTES] = 0;
    bytes.writeUInt32BE(message.length, FRAME_HEAD_BYTES + 1);
    bytes.set(message, FRAME_HEAD_BYTES + MESSAGE_HEAD_BYTES);
    this.#waiting.push({ bytes, written });
    this.#sendWaiting();
  }

  halfClose(): void {
    this.#socket.write(frame(FRAME.data, FLAG.endStream, STREAM, Buffer.alloc(0)));
  }

  cancel(): void {
    this.#socket.destroy();
  }

  #sendWaiting(): void {
    for (let [first] = this.#waiting; first; [first] = this.#waiting) {
      const size = first.bytes.length - FRAME_HEAD_BYTES;
      if (size > Math.min(this.#window, this.#connectionWindow)) return;
      this.#window -= size;
      this.#connectionWindow -= size;
      this.#waiting.shift();
      this.#socket.write(first.bytes, first.written);
    }
  }

  #receive(bytes: Buffer): void {
    this.#received = this.#received.length === 0 ? bytes : Buffer.concat([this.#received, bytes]);
    while (this.#received.length >= FRAME_HEAD_BYTES) {
      const end = FRAME_HEAD_BYTES + this.#received.readUIntBE(0, 3);
      if (this.#received.length < end) return;
      const whole = this.#received.subarray(0, end);
      this.#received = this.#received.subarray(end);
      this.#take(whole[3] ?? 0, whole[4] ?? 0, {
        stream: whole.readUInt32BE(5),
        payload: whole.subarray(FRAME_HEAD_BYTES),
      });
    }
  }

  #take(type: number, flags: number, { stream, payload }: { stream: number; payload: Buffer }): void {
    if (type === FRAME.data) this.#messages(payload);
    else if (type === FRAME.settings && !(flags & FLAG.ack)) this.#settings(payload);
    else if (type === FRAME.ping && !(flags & FLAG.ack)) this.#socket.write(frame(FRAME.ping, FLAG.ack, 0, payload));
    else if (type === FRAME.windowUpdate) this.#widen(stream, payload.readUInt32BE(0));
    const isEnd = (type === FRAME.data || type === FRAME.headers) && (flags & FLAG.endStream) !== 0;
    if (isEnd || type === FRAME.reset || type === FRAME.goAway) this.#end('The broker ended the stream.');
  }

  #settings(payload: Buffer): void {
    for (let at = 0; at + 6 <= payload.length; at += 6) {
      if (payload.readUInt16BE(at) !== INITIAL_WINDOW_SIZE) continue;
      const size = payload.readUInt32BE(at + 2);
      this.#window += size - this.#firstWindow;
      this.#firstWindow = size;
    }
    this.#socket.write(frame(FRAME.settings, FLAG.ack, 0, Buffer.alloc(0)));
    this.#sendWaiting();
  }

  #widen(stream: number, bytes: number): void {
    if (stream === 0) this.#connectionWindow += bytes;
    else this.#window += bytes;
    this.#sendWaiting();
  }

  #messages(payload: Buffer): void {
    let rest = this.#body.length === 0 ? payload : Buffer.concat([this.#body, payload]);
    while (rest.length >= MESSAGE_HEAD_BYTES) {
      const end = MESSAGE_HEAD_BYTES + rest.readUInt32BE(1);
      if (rest.length < end) break;
      this.#events.message(rest.subarray(MESSAGE_HEAD_BYTES, end));
      rest = rest.subarray(end);
    }
    this.#body = rest;
  }

  #end(details: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#socket.destroy();
    this.#events.ended({ code: UNAVAILABLE, details });
  }
}

/** A connection without TLS, for one call. */
export function openLeanLine({ host, port, authority }: Pick<BrokerAddress, 'host' | 'port' | 'authority'>): Line {
  const socket = connect({ host, port, noDelay: true });
  return {
    open: (path, headers, events) =>
      new LeanStream(
        socket,
        frame(FRAME.headers, FLAG.endHeaders, STREAM, headerBlock(path, authority, headers)),
        events,
      ),
    close: () => void socket.destroy(),
  };
}

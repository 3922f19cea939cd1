// The client's side of a tunnel: a WebSocket whose binary messages are bytes.
import { Duplex } from 'node:stream';
import type WebSocket from 'ws';
import type { RawData } from 'ws';
import { FAULTS, Fault, type FaultKind } from '#core/fault.ts';
import type { TunnelIn, TunnelOut } from '../api/wire/session.ts';
import { type Client, unreachable } from './client.ts';
import { onRefusal, socketTo } from './socket.ts';

const EOF = JSON.stringify({ eof: true } satisfies TunnelIn);
const LONGEST_PIECE = 256 * 1024;
// The server pings every 20 s: without any message for this long, the connection is dead.
const SILENCE_MS = 60_000;

const failed = (error: Error): Fault =>
  new Fault('unavailable', `The connection failed: ${error.message}.`, { cause: error });

function faultIn({ problem }: Extract<TunnelOut, { problem: unknown }>): Fault {
  const { kind, detail = 'The connection failed.', remedy } = problem;
  return new Fault(Object.hasOwn(FAULTS, kind) ? (kind as FaultKind) : 'unavailable', detail, { remedy });
}

/** What a text message of the server says. */
function saidIn(data: RawData): TunnelOut {
  try {
    const said = JSON.parse(data.toString()) as TunnelOut | null;
    if (said !== null && ('eof' in said || 'problem' in said)) return said;
  } catch {
    // The fault below says it.
  }
  throw new Fault('unsupported', 'The server sent a message that this version does not understand.');
}

/** Sends that last message; where it cannot be sent, the socket is about to close, and its reason counts. */
function sendLast(socket: WebSocket, data: Buffer | string, done: () => void): void {
  socket.send(data, { binary: typeof data !== 'string' }, (error) => error ?? done());
}

/** The server refuses long messages. */
function sendPieces(socket: WebSocket, chunk: Buffer, done: () => void): void {
  let at = 0;
  for (; at + LONGEST_PIECE < chunk.length; at += LONGEST_PIECE)
    socket.send(chunk.subarray(at, at + LONGEST_PIECE), { binary: true });
  sendLast(socket, chunk.subarray(at), done);
}

/** Bytes both ways. Its `error` is a `Fault`; it ends when the other side sends no more. */
function streamOver(socket: WebSocket, clock: { alarm(ms: number, then: () => void): () => void }): Duplex {
  let isEofHeard = false;
  let cancel = (): void => {};
  const listen = (): void => {
    cancel();
    // A paused socket reads no pings.
    cancel = clock.alarm(SILENCE_MS, () => (socket.isPaused ? listen() : socket.terminate()));
  };
  const stream = new Duplex({
    allowHalfOpen: true,
    read: () => socket.resume(),
    write: (chunk: Buffer, _, done) => sendPieces(socket, chunk, done),
    final: (done) => sendLast(socket, EOF, done),
    destroy(error, done) {
      // Where both directions have ended, the server closes: the last bytes may still be on their way to the worker.
      if (error || !isEofHeard || !stream.writableFinished) socket.terminate();
      done(error);
    },
  });
  const heard = (data: RawData, isBinary: boolean): void => {
    if (isBinary) {
      if (!stream.push(data as Buffer)) socket.pause();
      return;
    }
    const message = saidIn(data);
    if ('problem' in message) throw faultIn(message);
    isEofHeard = true;
    stream.push(null);
    // The stream asks for no more, and the server is still to close.
    socket.resume();
  };
  const take = (data: RawData, isBinary: boolean): void => {
    try {
      heard(data, isBinary);
    } catch (thrown) {
      stream.destroy(Fault.from(thrown));
    }
  };
  // The reader or the writer sees the error too; without a listener it would end the process.
  stream.on('error', () => {});
  for (const sign of ['ping', 'message']) socket.on(sign, listen);
  listen();
  socket.on('message', take);
  socket.on('error', (error) => stream.destroy(failed(error)));
  socket.on('close', (_code, reason) => {
    cancel();
    if (!isEofHeard) stream.destroy(new Fault('unavailable', `${reason}` || 'Lost the connection to the server.'));
    // The server may close before our own end is sent; what it has sent is still to be read. Node's `pipeline` waits for ever
    // for the end of a stream that is destroyed in between.
    else if (stream.readableEnded && !stream.writableFinished) stream.destroy();
    else if (!stream.writableFinished) stream.once('end', () => stream.destroy());
  });
  return stream;
}

/** Opens a tunnel at that path of the API; throws the `Fault` that the server or the worker refuses with. */
export function openTunnel(
  client: Client,
  path: string,
  { signal, clock }: { readonly signal: AbortSignal; readonly clock: Parameters<typeof streamOver>[1] },
): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const socket = socketTo(client, path);
    const leave = (): void => socket.terminate();
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave, { once: true });
    socket.once('close', () => signal.removeEventListener('abort', leave));
    onRefusal(client, socket, reject);
    socket.once('error', (error) => reject(unreachable(client.place, new Error(error.message, { cause: error }))));
    // Before `open` is heard by others: a message may come with it.
    socket.once('open', () => resolve(streamOver(socket, clock)));
  });
}

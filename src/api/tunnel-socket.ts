// A tunnel towards a client: binary messages are bytes, a text message says that a side sends no more, or why it failed.
import type { RawData, WebSocket } from 'ws';
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Tunnel } from '#core/tunnel.ts';
import type { Caller } from '../access/access.ts';
import type { ApiDeps } from './deps.ts';
import { toProblem } from './problem.ts';
import { CLOSE, closeSocket } from './socket-close.ts';
import type { TunnelOut } from './wire/session.ts';

export const TUNNEL_ROLE = 'operator';

const PING_EVERY_MS = 20_000;
const EOF = JSON.stringify({ eof: true } satisfies TunnelOut);

const bytesOf = (data: RawData): Buffer =>
  Array.isArray(data) ? Buffer.concat(data) : Buffer.isBuffer(data) ? data : Buffer.from(data);

function isEof(data: RawData): boolean {
  try {
    return (JSON.parse(bytesOf(data).toString()) as { eof?: unknown } | null)?.eof === true;
  } catch {
    return false;
  }
}

function send(socket: WebSocket, data: Uint8Array | string): Promise<void> {
  return new Promise((resolve, reject) => socket.send(data, (error) => (error ? reject(error) : resolve())));
}

/**
 * Pings the client, and drops it where it answers none. A client whose own reader is slow reads no pings either: while data
 * may be unread there, only TCP notices that it is dead.
 */
function pingClient(socket: WebSocket, clock: Clock) {
  let sent = 0;
  let answered = 0;
  // Data was sent after that ping.
  let dataAfter = -1;
  let isHeard = true;
  let wasPaused = false;
  let cancel = clock.alarm(PING_EVERY_MS, ping);

  function ping(): void {
    // Answers are not read while the worker does not read.
    const mayBeSilent = socket.isPaused || wasPaused || dataAfter >= answered;
    if (!isHeard && !mayBeSilent) return socket.terminate();
    isHeard = false;
    wasPaused = socket.isPaused;
    sent += 1;
    socket.ping(`${sent}`);
    cancel = clock.alarm(PING_EVERY_MS, ping);
  }

  socket.on('pong', (number: Buffer) => {
    isHeard = true;
    answered = Number(number.toString());
  });
  return {
    heard(): void {
      isHeard = true;
    },
    dataSent(): void {
      dataAfter = sent;
    },
    stop: () => cancel(),
  };
}

export interface TunnelSocketOptions {
  readonly deps: ApiDeps;
  readonly caller: Caller;
  readonly stopping: AbortSignal;
}

/** Connects a socket with a tunnel until both directions have ended, or one side is gone. */
export function connectTunnel(socket: WebSocket, tunnel: Tunnel, options: TunnelSocketOptions): void {
  const { deps, caller, stopping } = options;
  let isOver = false;
  let isEofHeard = false;
  // Messages that the worker has not taken yet. One read of the network may bring several.
  let waiting = 0;
  const pings = pingClient(socket, deps.clock);
  const unwatch = deps.access.watchToken(caller.token, TUNNEL_ROLE, (why) => void fail(why, CLOSE.refused));
  const stop = (): void => finish(CLOSE.stopping, 'The server is stopping.');

  function finish(code: number, why = ''): void {
    if (isOver) return;
    isOver = true;
    pings.stop();
    unwatch();
    stopping.removeEventListener('abort', stop);
    tunnel.close();
    // The closing handshake is read too.
    socket.resume();
    closeSocket(socket, code, why);
  }

  async function fail(thrown: unknown, code: number = CLOSE.broken): Promise<void> {
    if (isOver) return;
    const problem = toProblem(Fault.from(thrown), deps.redactText);
    const told = send(socket, JSON.stringify({ problem } satisfies TunnelOut));
    finish(code, problem.detail);
    await told.catch(() => {});
  }

  async function carry(): Promise<void> {
    for await (const data of tunnel.received) {
      if (isOver) return;
      pings.dataSent();
      await send(socket, data);
    }
    await send(socket, EOF);
    // Bytes of the client may still be on their way to the worker.
    await tunnel.finished();
    finish(CLOSE.done);
  }

  async function pass(data: Buffer): Promise<void> {
    waiting += 1;
    socket.pause();
    await tunnel.send(data);
    waiting -= 1;
    if (waiting === 0) socket.resume();
  }

  function take(data: RawData, isBinary: boolean): void {
    if (isOver || isEofHeard) return;
    pings.heard();
    if (isBinary) return void pass(bytesOf(data)).catch(fail);
    if (!isEof(data)) return void fail(new Fault('invalid', 'A text message must be {"eof":true}.'), CLOSE.refused);
    isEofHeard = true;
    tunnel.end();
  }

  socket.on('message', take);
  socket.on('error', () => socket.terminate());
  socket.on('close', () => finish(CLOSE.done));
  stopping.addEventListener('abort', stop, { once: true });
  carry().catch(fail);
}

import {
  constants,
  type IncomingHttpHeaders,
  performServerHandshake,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type Clock, systemClock } from '#core/clock.ts';
import type { Log } from '#core/log.ts';
import { openBurstQueue } from '#core/slices.ts';
import { OpenCall, type Service } from './open-call.ts';
import type { RpcHandler, Transport, TransportOptions } from './transport.ts';
import { unsupported } from './unary.ts';

// An agent needs one; the others are for a command line that shares a connection.
const STREAMS_PER_CONNECTION = 100;
const IDLE_CONNECTION_MS = 300_000;

const SESSION = {
  settings: { maxConcurrentStreams: STREAMS_PER_CONNECTION },
  // Node ends streams at random where a session reaches its limit; ours are bounded by their flow control.
  maxSessionMemory: Number.MAX_SAFE_INTEGER,
};

interface GrpcOptions extends TransportOptions {
  readonly clock: Clock;
  readonly log: Log;
}

const TIMEOUT = /^(\d{1,8})([HMSmun])$/;
const UNIT_MS: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1_000, m: 1, u: 0.001, n: 0.000_001 };

/** How long the caller waits for its answer, where it says so. */
function timeoutMsOf(headers: IncomingHttpHeaders): number | undefined {
  const [, count, unit] = TIMEOUT.exec(String(headers['grpc-timeout'] ?? '')) ?? [];
  return unit === undefined ? undefined : Number(count) * (UNIT_MS[unit] ?? 0);
}

/** Pings a peer, and drops its connection where it does not answer. Peers answer in real time, on whatever clock we run. */
function keepAlive(session: ServerHttp2Session, { pingEveryMs, pingTimeoutMs }: TransportOptions): void {
  let cancel = systemClock.alarm(pingEveryMs, ping);
  function ping(): void {
    cancel = systemClock.alarm(pingTimeoutMs, () => session.destroy());
    session.ping((error) => {
      cancel();
      if (!error) cancel = systemClock.alarm(pingEveryMs, ping);
    });
  }
  session.once('close', () => cancel());
}

/** Closes a connection that carries no call for long. */
function watchIdle(session: ServerHttp2Session): (stream: ServerHttp2Stream) => void {
  let open = 0;
  const wait = (): (() => void) => systemClock.alarm(IDLE_CONNECTION_MS, () => session.close());
  let cancel = wait();
  const closed = (): void => {
    open -= 1;
    if (open === 0 && !session.destroyed) cancel = wait();
  };
  session.once('close', () => cancel());
  return (stream) => {
    open += 1;
    cancel();
    stream.once('close', closed);
  };
}

const noService = (path: string, clock: Clock): Service => ({
  clock,
  handler: unsupported(`The server has no method ${path}.`, 'See proto/velda.'),
  failed() {},
});

function serve(service: Service, stream: ServerHttp2Stream, headers: IncomingHttpHeaders, socket: Duplex): void {
  if (!headers['content-type']?.startsWith('application/grpc'))
    return stream.respond({ ':status': 415 }, { endStream: true });
  const timeoutMs = timeoutMsOf(headers);
  // The caller has given up by itself and reads no status.
  const giveUp = (): void => stream.close(constants.NGHTTP2_CANCEL);
  if (timeoutMs !== undefined) stream.once('close', systemClock.alarm(timeoutMs, giveUp));
  new OpenCall(stream, headers, socket, service).start();
}

/** Serves each path by its handler; a method that takes or answers one message is the same on the wire as a stream. */
export function openGrpc(handlers: Readonly<Record<string, RpcHandler>>, options: GrpcOptions): Transport {
  const { clock, log } = options;
  const connections = new Map<Duplex, ServerHttp2Session>();
  const services = new Map(
    Object.entries(handlers).map(([path, handler]): [string, Service] => [
      path,
      {
        handler,
        clock,
        failed: ({ message, stack }) => log('error', 'gRPC call failed', { path, error: message, stack }),
      },
    ]),
  );
  // One packet may open a hundred calls: the rest of them waits until others had a turn.
  const burst = openBurstQueue(clock);
  let isStopped = false;
  let allClosed: (() => void) | undefined;

  function open(socket: Duplex): ServerHttp2Session {
    const session = performServerHandshake(socket, SESSION);
    const note = watchIdle(session);
    session.on('stream', (stream, headers) => {
      note(stream);
      // `close` follows; what went wrong makes no difference to a call. It may come before the call has its turn.
      stream.on('error', () => {});
      const path = headers[':path'] ?? '';
      burst.run(() => stream.destroyed || serve(services.get(path) ?? noService(path, clock), stream, headers, socket));
    });
    session.on('error', () => socket.destroy());
    keepAlive(session, options);
    return session;
  }

  return {
    accept(socket) {
      if (isStopped) return void socket.destroy();
      const { remoteAddress, remotePort } = socket as Socket;
      const from = `${remoteAddress}:${remotePort}`;
      socket.on('close', () => {
        connections.delete(socket);
        if (connections.size === 0) allClosed?.();
      });
      socket.on('error', (error) => log('debug', 'gRPC connection failed', { from, error: error.message }));
      connections.set(socket, open(socket));
      // The listener may pass the socket on paused; HTTP/2 takes the handle, but does not start to read.
      socket.read(0);
    },
    async stop(graceMs) {
      isStopped = true;
      const closed = new Promise<void>((resolve) => (allClosed = resolve));
      for (const session of connections.values()) session.close();
      if (connections.size === 0) return;
      const cancel = clock.alarm(graceMs, () => {
        for (const socket of connections.keys()) socket.destroy();
      });
      await closed;
      cancel();
    },
  };
}

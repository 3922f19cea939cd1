import type { Socket } from 'node:net';
import { openBurstQueue } from '#core/burst-queue.ts';
import { type Clock, systemClock } from '#core/clock.ts';
import type { Log } from '#core/log.ts';
import { openSharedAlarm } from '#wire/shared-alarm.ts';
import { Http2Connection } from './http2/connection.ts';
import { ERROR } from './http2/frames.ts';
import { headerBlock } from './http2/hpack.ts';
import type { Http2Stream } from './http2/stream.ts';
import { OpenCall, type Service } from './open-call.ts';
import type { RpcHandler, Transport, TransportOptions } from './transport.ts';
import { unsupported } from './unary.ts';

// An agent needs one; the others are for a command line that shares a connection.
const STREAMS_PER_CONNECTION = 100;
const IDLE_CONNECTION_MS = 300_000;
// Far less than any client waits for the answer to a ping.
const LATER_MS = 20;

type Headers = ReadonlyMap<string, string>;

interface GrpcOptions extends TransportOptions {
  readonly clock: Clock;
  readonly log: Log;
}

const TIMEOUT = /^(\d{1,8})([HMSmun])$/;
const UNIT_MS: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1_000, m: 1, u: 0.001, n: 0.000_001 };

/** How long the caller waits for its answer, where it says so. */
function timeoutMsOf(headers: Headers): number | undefined {
  const [, count, unit] = TIMEOUT.exec(headers.get('grpc-timeout') ?? '') ?? [];
  return unit === undefined ? undefined : Number(count) * (UNIT_MS[unit] ?? 0);
}

/** Pings a peer, and drops its connection where it does not answer. Peers answer in real time, on whatever clock we run. */
function keepAlive(
  connection: Http2Connection,
  socket: Socket,
  { pingEveryMs, pingTimeoutMs }: TransportOptions,
): void {
  let cancel = systemClock.alarm(pingEveryMs, ping);
  function ping(): void {
    cancel = systemClock.alarm(pingTimeoutMs, () => socket.destroy());
    connection.ping(() => {
      cancel();
      cancel = systemClock.alarm(pingEveryMs, ping);
    });
  }
  socket.once('close', () => cancel());
}

/** Closes a connection that carries no call for long. */
function watchIdle(close: () => void) {
  const wait = (): (() => void) => systemClock.alarm(IDLE_CONNECTION_MS, close);
  let cancel = wait();
  return {
    taken: () => cancel(),
    emptied() {
      cancel = wait();
    },
    stop: () => cancel(),
  };
}

const noService = (path: string, clock: Clock): Service => ({
  clock,
  handler: unsupported(`The server has no method ${path}.`, 'See proto/velda.'),
  failed() {},
});

const NO_CALL = headerBlock({ ':status': '415' });

function serve(service: Service, stream: Http2Stream, headers: Headers, socket: Socket): void {
  if (headers.get('content-type')?.startsWith('application/grpc'))
    return new OpenCall(stream, headers, socket, service).start(timeoutMsOf(headers));
  stream.respond(NO_CALL, true);
  stream.reset(ERROR.none);
}

/** Serves each path by its handler; a method that takes or answers one message is the same on the wire as a stream. */
export function openGrpc(handlers: Readonly<Record<string, RpcHandler>>, options: GrpcOptions): Transport {
  const { clock, log } = options;
  const connections = new Map<Socket, Http2Connection>();
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
  // What comes is read in real time, on whatever clock we run.
  const reading = openBurstQueue(systemClock);
  const later = openSharedAlarm(systemClock, LATER_MS);
  let isStopped = false;
  let allClosed: (() => void) | undefined;

  function open(socket: Socket): Http2Connection {
    const idle = watchIdle(() => connection.close());
    const connection = new Http2Connection(socket, {
      mostStreams: STREAMS_PER_CONNECTION,
      clock,
      inTurn: reading.run,
      later,
      emptied: idle.emptied,
      taken(stream, headers) {
        idle.taken();
        const path = headers.get(':path') ?? '';
        burst.run(
          () => stream.isClosed || serve(services.get(path) ?? noService(path, clock), stream, headers, socket),
        );
      },
    });
    socket.once('close', idle.stop);
    keepAlive(connection, socket, options);
    return connection;
  }

  return {
    accept(socket) {
      if (isStopped) return void socket.destroy();
      const { remoteAddress, remotePort } = socket;
      const from = `${remoteAddress}:${remotePort}`;
      socket.on('close', () => {
        connections.delete(socket);
        if (connections.size === 0) allClosed?.();
      });
      socket.on('error', (error) => log('debug', 'gRPC connection failed', { from, error: error.message }));
      connections.set(socket, open(socket));
    },
    async stop(graceMs) {
      isStopped = true;
      const closed = new Promise<void>((resolve) => (allClosed = resolve));
      for (const connection of connections.values()) connection.close();
      if (connections.size === 0) return;
      const cancel = clock.alarm(graceMs, () => {
        for (const socket of connections.keys()) socket.destroy();
      });
      await closed;
      cancel();
    },
  };
}

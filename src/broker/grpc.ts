import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Server, ServerCredentials, ServerInterceptingCall } from '@grpc/grpc-js';
import type { Clock } from '#core/clock.ts';
import type { Log } from '#core/log.ts';
import { openBurstQueue } from '#core/slices.ts';
import { OpenCall, type Service } from './open-call.ts';
import type { RpcHandler, Transport, TransportOptions } from './transport.ts';
import { LONGEST_UNCHECKED_BYTES } from './wire/frame.ts';

// An agent needs one; the others are for a command line that shares a connection.
const STREAMS_PER_CONNECTION = 100;
const IDLE_CONNECTION_MS = 300_000;

interface GrpcOptions extends TransportOptions {
  readonly clock: Clock;
  readonly log: Log;
}

function openServer(services: ReadonlyMap<string, Service>, options: GrpcOptions): Server {
  // One packet may open a hundred calls: the rest of them waits until others had a turn.
  const burst = openBurstQueue(options.clock);
  const server = new Server({
    // Its registry of every connection and call costs more memory than the calls.
    'grpc.enable_channelz': 0,
    'grpc.keepalive_time_ms': options.pingEveryMs,
    'grpc.keepalive_timeout_ms': options.pingTimeoutMs,
    'grpc.max_receive_message_length': LONGEST_UNCHECKED_BYTES,
    'grpc.max_concurrent_streams': STREAMS_PER_CONNECTION,
    'grpc.max_connection_idle_ms': IDLE_CONNECTION_MS,
    interceptors: [
      // The call ends here: further on, grpc-js would wrap it into one more duplex stream.
      ({ path }, call) =>
        new ServerInterceptingCall(call, {
          start() {
            const service = services.get(path);
            if (service) burst.run(() => call.start(new OpenCall(call, service)));
          },
        }),
    ],
  });
  const asTheyAre = (bytes: Buffer): Buffer => bytes;
  for (const path of services.keys()) server.register(path, () => {}, asTheyAre, asTheyAre, 'bidi');
  return server;
}

/** Serves each path by its handler; a method that takes or answers one message is the same on the wire as a stream. */
export function openGrpc(handlers: Readonly<Record<string, RpcHandler>>, options: GrpcOptions): Transport {
  const { clock, log } = options;
  // By address and port of the peer: a call shows nothing else of its connection.
  const sockets = new Map<string, Duplex>();
  const services = Object.entries(handlers).map(([path, handler]): [string, Service] => [
    path,
    {
      handler,
      failed: ({ message, stack }) => log('error', 'gRPC call failed', { path, error: message, stack }),
      cut: (peer) => void sockets.get(peer)?.destroy(),
    },
  ]);
  const injector = openServer(new Map(services), options).createConnectionInjector(ServerCredentials.createInsecure());
  let isStopped = false;
  let allClosed: (() => void) | undefined;

  function remove(peer: string, socket: Duplex): void {
    if (sockets.get(peer) === socket) sockets.delete(peer);
    if (sockets.size === 0) allClosed?.();
  }

  return {
    accept(socket) {
      if (isStopped) return void socket.destroy();
      const { remoteAddress, remotePort } = socket as Socket;
      const peer = `${remoteAddress}:${remotePort}`;
      sockets.set(peer, socket);
      socket.on('close', () => remove(peer, socket));
      socket.on('error', (error) => log('debug', 'gRPC connection failed', { from: peer, error: error.message }));
      injector.injectConnection(socket);
      // The listener may pass the socket on paused; HTTP/2 takes the handle, but does not start to read.
      socket.read(0);
    },
    async stop(graceMs) {
      isStopped = true;
      const closed = new Promise<void>((resolve) => (allClosed = resolve));
      injector.destroy();
      if (sockets.size === 0) return;
      const cancel = clock.alarm(graceMs, () => {
        for (const socket of sockets.values()) socket.destroy();
      });
      await closed;
      cancel();
    },
  };
}

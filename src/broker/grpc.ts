import type { Socket } from 'node:net';
import {
  type handleBidiStreamingCall,
  type handleClientStreamingCall,
  type handleServerStreamingCall,
  type handleUnaryCall,
  Server,
  ServerCredentials,
} from '@grpc/grpc-js';
import { LONGEST_MESSAGE_BYTES } from '#wire/messages.ts';
import { type AdmissionOptions, openAdmission } from './admission.ts';
import { type ServerTls, takeConnections } from './connections.ts';
import type { RpcMethod } from './method.ts';
import { type CallStatus, statusOfThrown } from './status.ts';

const IDLE_CONNECTION_MS = 300_000;

export interface GrpcOptions extends Omit<AdmissionOptions, 'connections'> {
  /** A caller on this connection (`connectionKey`) has proved who it is. */
  readonly proved?: ((peer: string) => void) | undefined;
  /** How often a peer is pinged, and how long it has to answer. */
  readonly pingEveryMs: number;
  readonly pingTimeoutMs: number;
  readonly streamsPerConnection: number;
}

export interface Grpc {
  /** Takes over accepted connections, with TLS or without. */
  listener(tls?: ServerTls): (socket: Socket) => void;
  /** Accepts no new calls; after `graceMs` drops the connections that are still open. */
  stop(graceMs: number): Promise<void>;
}

/** For grpc-js, by the kind of a method. */
interface HandlerOf {
  unary: handleUnaryCall<Buffer, Uint8Array>;
  clientStream: handleClientStreamingCall<Buffer, Uint8Array>;
  serverStream: handleServerStreamingCall<Buffer, Uint8Array>;
  bidi: handleBidiStreamingCall<Buffer, Uint8Array>;
}

const received = (bytes: Buffer): Buffer => bytes;
const sent = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Serves each path by its method. */
export function openGrpc(methods: ReadonlyMap<string, RpcMethod>, options: GrpcOptions): Grpc {
  const { clock, log } = options;
  const connections = takeConnections(log, options.proved);
  const { interceptor, servedBy } = openAdmission(methods, { ...options, connections });
  const server = new Server({
    // Its registry of every connection and call costs more memory than the calls.
    'grpc.enable_channelz': 0,
    'grpc.keepalive_time_ms': options.pingEveryMs,
    'grpc.keepalive_timeout_ms': options.pingTimeoutMs,
    'grpc.max_receive_message_length': LONGEST_MESSAGE_BYTES,
    'grpc.max_concurrent_streams': options.streamsPerConnection,
    'grpc.max_connection_idle_ms': IDLE_CONNECTION_MS,
    interceptors: [interceptor],
  });

  const failed = (path: string, thrown: unknown): CallStatus => statusOfThrown(thrown, path, log);
  const handlers: { [Type in RpcMethod['type']]: (path: string) => HandlerOf[Type] } = {
    unary: (path) => (call, answer) => {
      const answered = servedBy('unary', call.metadata)(call.request);
      answered.then(
        (bytes) => answer(null, bytes),
        (thrown) => answer(failed(path, thrown)),
      );
    },
    clientStream: (path) => (call, answer) => {
      const answered = servedBy('clientStream', call.metadata)(call);
      answered.then(
        (bytes) => answer(null, bytes),
        (thrown) => answer(failed(path, thrown)),
      );
    },
    serverStream: (path) => (call) => {
      const ended = servedBy('serverStream', call.metadata)(call);
      ended.then(
        () => void call.end(),
        (thrown) => void call.emit('error', failed(path, thrown)),
      );
    },
    bidi: () => (call) => servedBy('bidi', call.metadata)(call),
  };
  for (const [path, { type }] of methods) server.register(path, handlers[type](path), sent, received, type);

  // TLS, if any, has ended when grpc-js gets a connection.
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  function take(socket: Socket): void {
    injector.injectConnection(socket);
    // The listener may have paused it: grpc-js takes it over, but does not begin to read.
    socket.read(0);
  }

  return {
    listener: (tls) => connections.listener(take, tls),
    async stop(graceMs) {
      const cancel = clock.alarm(graceMs, connections.cutAll);
      // Its callback does not wait for connections, since Node closes them with the server.
      server.tryShutdown(() => {});
      await connections.stop();
      cancel();
    },
  };
}

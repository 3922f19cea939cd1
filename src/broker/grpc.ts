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
import { type GrpcConnections, takeConnections } from './connections.ts';
import type { RpcMethod } from './method.ts';
import { type CallStatus, statusOfThrown } from './status.ts';

const IDLE_CONNECTION_MS = 300_000;

export interface GrpcOptions extends AdmissionOptions {
  /** How often a peer is pinged, and how long it has to answer. */
  readonly pingEveryMs: number;
  readonly pingTimeoutMs: number;
  readonly streamsPerConnection: number;
}

export interface Grpc extends Pick<GrpcConnections, 'listener' | 'cut'> {
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
  const { interceptor, servedBy } = openAdmission(methods, options);
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
    unary: (path) => (call, answer) =>
      void servedBy(
        'unary',
        call.metadata,
      )(call.request).then(
        (bytes) => answer(null, bytes),
        (thrown) => answer(failed(path, thrown)),
      ),
    clientStream: (path) => (call, answer) =>
      void servedBy(
        'clientStream',
        call.metadata,
      )(call).then(
        (bytes) => answer(null, bytes),
        (thrown) => answer(failed(path, thrown)),
      ),
    serverStream: (path) => (call) =>
      void servedBy(
        'serverStream',
        call.metadata,
      )(call).then(
        () => void call.end(),
        (thrown) => void call.emit('error', failed(path, thrown)),
      ),
    bidi: () => (call) => servedBy('bidi', call.metadata)(call),
  };
  for (const [path, { type }] of methods) server.register(path, handlers[type](path), sent, received, type);

  // The handshake of TLS is over when it gets a connection.
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  const connections = takeConnections((socket) => {
    injector.injectConnection(socket);
    // Whoever accepted it may have paused it: grpc-js takes it over, but does not begin to read.
    socket.read(0);
  }, log);
  return {
    listener: connections.listener,
    cut: connections.cut,
    async stop(graceMs) {
      const cancel = clock.alarm(graceMs, connections.cutAll);
      // Its callback does not wait for connections, since Node closes them with the server.
      server.tryShutdown(() => {});
      await connections.stop();
      cancel();
    },
  };
}

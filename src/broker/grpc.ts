import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Server, ServerCredentials, type ServerDuplexStream } from '@grpc/grpc-js';
import type { Clock } from '#core/clock.ts';
import { FAULTS, Fault } from '#core/fault.ts';
import type { Log } from '#core/log.ts';
import type { Caller, Handler, Stream, Transport, TransportOptions } from './transport.ts';
import { LONGEST_MESSAGE_BYTES, tame } from './wire/frame.ts';

type Call = ServerDuplexStream<Buffer, Buffer>;

// An agent needs one; the rest is room for a command line that shares a connection.
const STREAMS_PER_CONNECTION = 100;
const IDLE_CONNECTION_MS = 300_000;
const LONGEST_STATUS_TEXT = 1_024;

/** What a caller reads; of our own bugs it learns nothing but that there is one. */
export function statusOf(fault: Fault): { code: number; details: string } {
  const { grpc: code } = FAULTS[fault.kind];
  if (fault.kind === 'internal') return { code, details: 'Something failed inside the server; its log says what.' };
  // grpc-js encodes this text as a URI, which throws on half a surrogate pair.
  return { code, details: tame(`${fault.message} ${fault.remedy}`, LONGEST_STATUS_TEXT) };
}

function callerOf(call: Call): Caller {
  const peer = call.getPeer();
  return {
    // `address:port`; a dual-stack socket shows IPv4 callers in their IPv6 form.
    peerAddress: peer.replace(/:\d+$/, '').replace(/^::ffff:/i, ''),
    get certificateName() {
      const name: unknown = call.getAuthContext().sslPeerCertificate?.subject?.CN;
      return typeof name === 'string' ? name : undefined;
    },
    header(name) {
      const value = call.metadata.get(name)[0];
      return typeof value === 'string' ? value : undefined;
    },
  };
}

function streamOf(call: Call, cut: () => void): Stream {
  let hasEnded = false;
  return {
    caller: callerOf(call),
    write(message, written) {
      if (!hasEnded) call.write(Buffer.from(message.buffer, message.byteOffset, message.byteLength), () => written());
    },
    pause: () => void call.pause(),
    resume: () => void call.resume(),
    end(fault) {
      if (hasEnded) return;
      hasEnded = true;
      if (fault) call.emit('error', statusOf(fault));
      else call.end();
    },
    cut,
  };
}

/** Serves each path by its handler; a method that takes or answers one message is the same on the wire as a stream. */
export function openGrpc(
  handlers: Readonly<Record<string, Handler>>,
  options: TransportOptions & { readonly clock: Clock; readonly log: Log },
): Transport {
  const { clock, log } = options;
  const server = new Server({
    // Its registry of every connection and call costs more memory than the calls.
    'grpc.enable_channelz': 0,
    'grpc.keepalive_time_ms': options.pingEveryMs,
    'grpc.keepalive_timeout_ms': options.pingTimeoutMs,
    'grpc.max_receive_message_length': LONGEST_MESSAGE_BYTES,
    'grpc.max_concurrent_streams': STREAMS_PER_CONNECTION,
    'grpc.max_connection_idle_ms': IDLE_CONNECTION_MS,
  });
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  // By address and port of the peer: the only trace of its connection that a call shows.
  const sockets = new Map<string, Duplex>();
  let isStopped = false;
  let allClosed: (() => void) | undefined;

  function handle(call: Call, handler: Handler): void {
    const peer = call.getPeer();
    const stream = streamOf(call, () => sockets.get(peer)?.destroy());
    const listener = handler(stream);
    const guarded = (hear: () => void): void => {
      try {
        hear();
      } catch (thrown) {
        const fault = Fault.from(thrown);
        if (fault.kind === 'internal')
          log('error', 'call failed', { path: call.getPath(), error: fault.message, stack: fault.stack });
        stream.end(fault);
      }
    };
    call.on('data', (bytes: Buffer) => guarded(() => listener.message(bytes)));
    call.once('end', () => guarded(() => listener.halfClosed()));
    call.once('close', () => guarded(() => listener.closed()));
  }

  const asTheyAre = (bytes: Buffer): Buffer => bytes;
  for (const [path, handler] of Object.entries(handlers)) {
    server.register(path, (call: Call) => handle(call, handler), asTheyAre, asTheyAre, 'bidi');
  }

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
      socket.once('close', () => remove(peer, socket));
      socket.on('error', (error) => log('debug', 'connection failed', { from: peer, error: error.message }));
      injector.injectConnection(socket);
      // Whoever listens may hand it over paused; HTTP/2 takes the handle, but does not start to read.
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

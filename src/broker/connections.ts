import type { Socket } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import type { Log } from '#core/log.ts';
import { connectionKey } from '../edge/open-connections.ts';

/** What a listener shows its clients, and the CA of theirs; PEM, with the chain. */
export interface ServerTls {
  readonly certificate: string;
  readonly key: string;
  /** A client may come without a certificate; one that this CA did not sign for clients is refused. */
  readonly clientCa?: string | undefined;
}

/** Takes over accepted connections. */
type Listener = (socket: Socket) => void;

/** GrpcConnections that someone else has accepted, on their way to the server. */
export interface GrpcConnections {
  listener(tls?: ServerTls): Listener;
  /** Drops a connection, by `connectionKey`. */
  cut(peer: string): void;
  /** Drops those that come later; resolves when the others are closed. */
  stop(): Promise<void>;
  cutAll(): void;
}

/** Node verifies it for us; without `authorized` a certificate is not from our CA, not in date, or not for clients. */
const isRefused = (socket: TLSSocket): boolean => !socket.authorized && socket.getPeerX509Certificate() !== undefined;

export function takeConnections(take: (socket: Socket) => void, log: Log): GrpcConnections {
  const sockets = new Map<string, Socket>();
  let isStopped = false;
  let allClosed: (() => void) | undefined;

  function failed(error: Error, socket: Socket): void {
    log('debug', 'gRPC connection failed', { from: socket.remoteAddress, error: error.message });
    socket.destroy();
  }

  function secured({ certificate, key, clientCa }: ServerTls): Listener {
    const server = createServer({
      cert: certificate,
      key,
      ca: clientCa,
      requestCert: clientCa !== undefined,
      rejectUnauthorized: false,
      ALPNProtocols: ['h2'],
    });
    server.on('tlsClientError', failed);
    server.on('secureConnection', (socket) => {
      socket.on('error', (error) => failed(error, socket));
      if (!isRefused(socket)) return take(socket);
      log('debug', 'client certificate refused', { from: socket.remoteAddress, why: socket.authorizationError });
      socket.destroy();
    });
    return (socket) => void server.emit('connection', socket);
  }

  function keep(socket: Socket): void {
    const peer = connectionKey(socket);
    sockets.set(peer, socket);
    socket.once('close', () => {
      if (sockets.get(peer) === socket) sockets.delete(peer);
      if (sockets.size === 0) allClosed?.();
    });
    socket.on('error', (error) => failed(error, socket));
  }

  return {
    listener(tls) {
      const begin = tls ? secured(tls) : take;
      return (socket) => {
        if (isStopped) return void socket.destroy();
        keep(socket);
        begin(socket);
      };
    },
    cut: (peer) => void sockets.get(peer)?.destroy(),
    async stop() {
      isStopped = true;
      if (sockets.size === 0) return;
      await new Promise<void>((resolve) => (allClosed = resolve));
    },
    cutAll() {
      for (const socket of sockets.values()) socket.destroy();
    },
  };
}

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

/** Connections that someone else has accepted, on their way to the server. */
export interface GrpcConnections {
  /** Hands connections on to `take`, with TLS after the handshake. */
  listener(take: Listener, tls?: ServerTls): Listener;
  /** Drops a connection, by `connectionKey`. */
  cut(peer: string): void;
  /** A caller on that connection has proved who it is. */
  proved(peer: string): void;
  /** A call on that connection was refused, or given up. */
  refused(peer: string): void;
  /** Drops those that come later; resolves when the others are closed. */
  stop(): Promise<void>;
  cutAll(): void;
}

// A refused call takes memory until its caller ends its part, which one that means harm never does.
const MOST_REFUSALS = 100;

/** An open connection, and how often it was refused before a caller on it has proved who it is. */
interface TakenConnection {
  readonly socket: Socket;
  isProved: boolean;
  refusals: number;
}

/** Node verifies it for us; without `authorized` a certificate is not from our CA, not in date, or not for clients. */
const isRefused = (socket: TLSSocket): boolean => !socket.authorized && socket.getPeerX509Certificate() !== undefined;

export function takeConnections(log: Log, proved: (peer: string) => void = () => {}): GrpcConnections {
  const open = new Map<string, TakenConnection>();
  let isStopped = false;
  let allClosed: (() => void) | undefined;

  function failed(error: Error, socket: Socket): void {
    log('debug', 'gRPC connection failed', { from: socket.remoteAddress, error: error.message });
    socket.destroy();
  }

  function secured(take: Listener, { certificate, key, clientCa }: ServerTls): Listener {
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
    open.set(peer, { socket, isProved: false, refusals: 0 });
    socket.once('close', () => {
      if (open.get(peer)?.socket === socket) open.delete(peer);
      if (open.size === 0) allClosed?.();
    });
    socket.on('error', (error) => failed(error, socket));
  }

  return {
    listener(take, tls) {
      const begin = tls ? secured(take, tls) : take;
      return (socket) => {
        if (isStopped) return void socket.destroy();
        keep(socket);
        begin(socket);
      };
    },
    cut: (peer) => void open.get(peer)?.socket.destroy(),
    proved(peer) {
      const connection = open.get(peer);
      if (!connection || connection.isProved) return;
      connection.isProved = true;
      proved(peer);
    },
    refused(peer) {
      const connection = open.get(peer);
      if (!connection || connection.isProved) return;
      connection.refusals += 1;
      if (connection.refusals > MOST_REFUSALS) connection.socket.destroy();
    },
    async stop() {
      isStopped = true;
      if (open.size === 0) return;
      await new Promise<void>((resolve) => (allClosed = resolve));
    },
    cutAll() {
      for (const { socket } of open.values()) socket.destroy();
    },
  };
}

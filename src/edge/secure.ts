import type { Socket } from 'node:net';
import { createServer } from 'node:tls';

/** Certificate of a port. */
export interface TlsContext {
  /** PEM, with the chain. */
  readonly certificate: string;
  readonly key: string;
}

export interface TlsListener {
  /** Takes an accepted connection. */
  accept(socket: Socket): void;
  /** Handshakes from now on show this certificate. */
  renew(context: TlsContext): void;
}

/** Ends TLS on HTTP connections that someone else has accepted. */
export function openTlsListener(
  { certificate, key }: TlsContext,
  taken: (socket: Socket) => void,
  refused: (why: string, from: string | undefined) => void,
): TlsListener {
  const server = createServer({ cert: certificate, key, ALPNProtocols: ['http/1.1'] });
  server.on('secureConnection', taken);
  server.on('tlsClientError', ({ message }, { remoteAddress }) => refused(message, remoteAddress));
  return {
    accept: (socket) => void server.emit('connection', socket),
    renew: (context) => server.setSecureContext({ cert: context.certificate, key: context.key }),
  };
}

// The type of a TLS record that begins a handshake (RFC 8446, 5.1); HTTP/2 begins with `PRI`.
const HANDSHAKE = 0x16;

/** Tells clients that begin with TLS from those that do not; what they sent stays to be read. */
export function tellTls(socket: Socket, isTls: (socket: Socket) => void, isPlain: (socket: Socket) => void): void {
  const read = (): void => {
    const sent: Buffer | null = socket.read();
    if (sent === null) return;
    socket.off('readable', read);
    socket.unshift(sent);
    (sent[0] === HANDSHAKE ? isTls : isPlain)(socket);
  };
  socket.on('readable', read);
}

import { X509Certificate } from 'node:crypto';
import type { Socket } from 'node:net';
import { createSecureContext, type SecureContext, TLSSocket } from 'node:tls';
import type { Clock } from '#core/clock.ts';
import type { Door } from './passage.ts';

/** Certificate of a port, and the CA of its clients. */
export interface Lock {
  /** PEM, with the chain. */
  readonly certificate: string;
  readonly key: string;
  /** PEM: a client may connect without a certificate, but an invalid one is refused. */
  readonly clientCa?: string | undefined;
  /** Clients without TLS are served too. */
  readonly isOptional?: boolean | undefined;
}

// Extended key usage `clientAuth` (RFC 5280): a server's certificate of the same authority is no agent's.
const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';

// The type of a TLS record that begins a handshake (RFC 8446, 5.1); HTTP/2 begins with `PRI`.
const HANDSHAKE = 0x16;

/** Whether the client began with TLS; what it sent stays to be read. */
function beginsWithTls(socket: Socket): boolean {
  const sent: Buffer | null = socket.read();
  if (sent === null) return true;
  socket.unshift(sent);
  return sent[0] === HANDSHAKE;
}

// As long as an HTTP client has for the head of its request.
const HANDSHAKE_MS = 10_000;

function isClientOf(ca: X509Certificate, certificate: X509Certificate, nowMs: number): boolean {
  if (!certificate.keyUsage?.includes(CLIENT_AUTH)) return false;
  const isInDate = certificate.validFromDate.getTime() <= nowMs && nowMs <= certificate.validToDate.getTime();
  return isInDate && certificate.checkIssued(ca) && certificate.verify(ca.publicKey);
}

/** Ends TLS on connections that someone else has accepted; the client keeps the address it was known by. */
export function openLock({ certificate, key, clientCa, isOptional = false }: Lock, door: Door, clock: Clock) {
  const secureContext: SecureContext = createSecureContext({ cert: certificate, key, ca: clientCa });
  const ca = clientCa === undefined ? undefined : new X509Certificate(clientCa);

  function open(socket: Socket, taken: (secure: TLSSocket) => void, refused: (why: string) => void): TLSSocket {
    const { remoteAddress, remotePort } = socket;
    const secure = new TLSSocket(socket, {
      isServer: true,
      secureContext,
      requestCert: ca !== undefined,
      rejectUnauthorized: false,
      ALPNProtocols: door === 'grpc' ? ['h2'] : ['http/1.1'],
    });
    Object.defineProperties(secure, { remoteAddress: { value: remoteAddress }, remotePort: { value: remotePort } });
    secure.on('error', (error) => refused(error.message));
    secure.once('secure', () => {
      const shown = ca && secure.getPeerX509Certificate();
      // It is checked nowhere else: a plain TLSSocket leaves that to its owner.
      if (ca && shown && !isClientOf(ca, shown, clock.now())) {
        secure.destroy();
        return refused('the client certificate is not from this cluster');
      }
      // As a server of node:tls would note on it: HTTP/2 waits for the one, and gRPC asks the other.
      Object.assign(secure, { secureConnecting: false, authorized: shown !== undefined });
      taken(secure);
    });
    return secure;
  }

  return (socket: Socket, taken: (admitted: Socket) => void, refused: (why: string) => void): void => {
    let secure: TLSSocket | undefined;
    // A client that does not finish the handshake must not keep a descriptor.
    const cancel = clock.alarm(HANDSHAKE_MS, () => {
      (secure ?? socket).destroy();
      refused('TLS handshake timed out');
    });
    socket.once('close', cancel);
    const begin = (): void => {
      // Without one byte it was only the end, which the socket sees to itself.
      if (socket.readableLength === 0) return;
      if (isOptional && !beginsWithTls(socket)) {
        cancel();
        return taken(socket);
      }
      secure = open(socket, taken, refused);
      secure.once('secure', cancel).once('close', cancel);
    };
    // The buffer that a TLSSocket reads into is as large as the first bytes that it finds, or 64 KB if it finds none.
    if (socket.readableLength > 0) begin();
    else socket.once('readable', begin);
  };
}

// How a standby forwards a connection to the holder: TLS by a pre-shared key, one line of introduction, then the bytes as
// they come.
import { connect, type Socket } from 'node:net';
import { createServer, connect as secure, type TLSSocket } from 'node:tls';
import { z } from 'zod';
import { parseAddress } from './address.ts';

export const PROTOCOLS = ['http', 'grpc'] as const;
export type EdgeProtocol = (typeof PROTOCOLS)[number];

/** What a holder publishes with its lease, so that standbys find it; `secret` changes with every holder. */
export const HolderAddress = z.object({ address: z.string(), secret: z.string() });
export type HolderAddress = z.infer<typeof HolderAddress>;

const Introduction = z.object({ protocol: z.enum(PROTOCOLS), from: z.string() });
type Introduction = z.infer<typeof Introduction>;

const LONGEST_INTRODUCTION = 1_024;

// Both sides know the secret from the store: it authenticates them to each other, and the key exchange keeps recorded
// traffic unreadable once the secret is known. Node has pre-shared keys for TLS 1.2 alone.
const SHARED_KEY = { ciphers: 'ECDHE-PSK-CHACHA20-POLY1305', maxVersion: 'TLSv1.2' } as const;
const IDENTITY = 'replica';
// Node refuses HTTP/2 on a TLS socket that has not agreed on it.
const ALPN: Readonly<Record<EdgeProtocol, string>> = { http: 'http/1.1', grpc: 'h2' };

function join(a: Socket, b: Socket): void {
  const end = (): void => {
    a.destroy();
    b.destroy();
  };
  for (const socket of [a, b]) {
    socket.on('error', end);
    socket.on('close', end);
  }
  a.pipe(b);
  b.pipe(a);
}

interface Forwarded {
  readonly protocol: EdgeProtocol;
  readonly holder: HolderAddress;
  /** Nothing answers there, and nothing of the client was read. */
  unreached(): void;
}

/**
 * Sends a client's connection through to the holder; the client sees only that one. The returned function cuts it; one
 * that is still on its way counts as unreached.
 */
export function forward(client: Socket, { protocol, holder, unreached }: Forwarded): () => void {
  const { host, port } = parseAddress(holder.address);
  const link = secure({
    ...SHARED_KEY,
    ALPNProtocols: [ALPN[protocol]],
    socket: connect({ host, port, noDelay: true }),
    pskCallback: () => ({ psk: Buffer.from(holder.secret), identity: IDENTITY }),
    // The key proves who answers: there is no certificate.
    checkServerIdentity: () => undefined,
  });
  const introduction: Introduction = { protocol, from: client.remoteAddress ?? '' };
  let isThrough = false;
  const clientFailed = (): void => void link.destroy();
  const linkFailed = (): void => {
    client.off('error', clientFailed);
    unreached();
  };
  client.on('error', clientFailed);
  link.on('error', linkFailed);
  link.once('secureConnect', () => {
    isThrough = true;
    link.off('error', linkFailed);
    link.write(`${JSON.stringify(introduction)}\n`);
    join(client, link);
  });
  return () => {
    link.destroy();
    if (isThrough) client.destroy();
    else {
      link.off('error', linkFailed).on('error', () => {});
      linkFailed();
    }
  };
}

function parseIntroduction(line: string): Introduction | undefined {
  try {
    return Introduction.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}

type Taken = (protocol: EdgeProtocol, socket: Socket, from: string) => void;

/** Reads the introduction; what follows stays to be read. */
function readIntroduction(socket: TLSSocket, taken: Taken): void {
  let head = Buffer.alloc(0);
  const read = (): void => {
    for (let chunk = socket.read(); chunk !== null; chunk = socket.read()) head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\n');
    if (end < 0) {
      if (head.length > LONGEST_INTRODUCTION) socket.destroy();
      return;
    }
    socket.off('readable', read);
    const introduction = parseIntroduction(head.subarray(0, end).toString());
    if (!introduction) return void socket.destroy();
    const rest = head.subarray(end + 1);
    if (rest.length > 0) socket.unshift(rest);
    taken(introduction.protocol, socket, introduction.from);
  };
  socket.on('readable', read);
}

/** Takes connections that standbys forward; one without the secret is closed. */
export function receiveForwarded(secret: string, taken: Taken): (socket: Socket) => void {
  const server = createServer({
    ...SHARED_KEY,
    ALPNProtocols: Object.values(ALPN),
    pskCallback: () => Buffer.from(secret),
  });
  server.on('tlsClientError', (_error, socket) => socket.destroy());
  server.on('secureConnection', (socket) => {
    socket.on('error', () => socket.destroy());
    readIntroduction(socket, taken);
  });
  return (socket) => void server.emit('connection', socket);
}

/** What a holder published; undefined where it is of a version that this one cannot read. */
export function parseHolderAddress(value: unknown): HolderAddress | undefined {
  return HolderAddress.safeParse(value).data;
}

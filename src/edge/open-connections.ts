// What a proxy in front of the server would bound too: connections whose client has not authenticated yet.
import type { Socket } from 'node:net';
import type { Clock } from '#core/clock.ts';
import type { Log } from '#core/log.ts';
import { isWithin } from '../access/networks.ts';

/** Both ends of a connection, as sockets and gRPC calls show them. */
export interface ConnectionEnds {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  readonly localPort?: number | undefined;
}

export interface OpenConnections {
  /**
   * Counts a connection until it is authenticated or closed; false: its address has too many of them. It is closed unless
   * it is established or authenticated in time. A second call says for which address it was forwarded.
   */
  admit(socket: Socket, from?: string): boolean;
  /** The address of the client, also where a standby forwarded its connection; undefined for an unknown one. */
  addressOf(connection: string): string | undefined;
  /** The handshake is over: who serves the connection has deadlines of its own. */
  established(connection: string): void;
  /** Its client has shown a credential that holds: the connection counts no more, and has no deadline here. */
  authenticated(connection: string): void;
  /** Whether clients behind this address are counted by the proxy itself. */
  isProxy(address: string): boolean;
}

export interface ConnectionsOptions {
  /** Connections of one address that have not authenticated. */
  readonly mostOfAddress: number;
  /** Networks of trusted proxies, as CIDR. */
  readonly trustedProxies: readonly string[];
  readonly clock: Clock;
  readonly log: Log;
}

interface Open {
  readonly from: string;
  readonly cancelDeadline: () => void;
  settle(): void;
}

// As long as an HTTP client has for the head of its request.
const ESTABLISHED_WITHIN_MS = 10_000;

const LOG_AGAIN_MS = 60_000;

/** A dual-stack socket shows IPv4 clients in their IPv6 form. */
export const plainAddress = (address: string): string => address.replace(/^::ffff:/i, '');

/** Names a connection while it is open, also where TLS wraps its socket. */
export const connectionKey = ({ remoteAddress, remotePort, localPort }: ConnectionEnds): string =>
  `${remoteAddress}:${remotePort}>${localPort}`;

export function openConnections(options: ConnectionsOptions): OpenConnections {
  const { mostOfAddress, clock, log } = options;
  const open = new Map<string, Open>();
  const countOf = new Map<string, number>();
  let loggedMs = Number.NEGATIVE_INFINITY;

  const isProxy = (address: string): boolean => isWithin(address, options.trustedProxies);

  function noteRefusal(from: string): void {
    if (clock.monotonic() - loggedMs < LOG_AGAIN_MS) return;
    loggedMs = clock.monotonic();
    log('warn', 'connections refused: too many of one address have not authenticated', {
      from,
      most: mostOfAddress,
      remedy:
        'Name proxies under `server.limits.trusted_proxies`, or raise `server.limits.unauthenticated_connections`.',
    });
  }

  function count(from: string, by: number): void {
    const now = (countOf.get(from) ?? 0) + by;
    if (now === 0) countOf.delete(from);
    else countOf.set(from, now);
  }

  function countConnection(socket: Socket, from: string): Open {
    count(from, 1);
    let isCounted = true;
    const cancelDeadline = clock.alarm(ESTABLISHED_WITHIN_MS, () => socket.destroy());
    return {
      from,
      cancelDeadline,
      settle() {
        cancelDeadline();
        if (isCounted) count(from, -1);
        isCounted = false;
      },
    };
  }

  return {
    isProxy,
    admit(socket, forwarded) {
      const from = plainAddress(forwarded ?? socket.remoteAddress ?? 'unknown');
      const key = connectionKey(socket);
      open.get(key)?.settle();
      if (!isProxy(from) && (countOf.get(from) ?? 0) >= mostOfAddress) {
        noteRefusal(from);
        return false;
      }
      const one = countConnection(socket, from);
      open.set(key, one);
      socket.once('close', () => {
        one.settle();
        // The client may have opened its next connection from the same port already.
        if (open.get(key) === one) open.delete(key);
      });
      return true;
    },
    addressOf: (connection) => open.get(connection)?.from,
    established: (connection) => open.get(connection)?.cancelDeadline(),
    authenticated: (connection) => open.get(connection)?.settle(),
  };
}

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { Role } from '#core/access.ts';
import { Fault } from '#core/fault.ts';
import type { Caller } from '../access/access.ts';
import { isAtLeast } from '../access/tokens.ts';
import { type ConnectionEnds, connectionKey, plainAddress } from '../edge/open-connections.ts';
import type { ApiDeps } from './deps.ts';
import { checkHost, checkOrigin } from './host-header.ts';

export interface Visitor {
  /** The same for all requests of one connection. */
  readonly connection: object & ConnectionEnds;
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly from: string;
}

/** Who asks: where a trusted proxy stands in front of the client, the proxy names its address. */
export function visitorOf(request: IncomingMessage, { addressOf, isProxy }: ApiDeps['connections']): Visitor {
  const { socket: connection, method = 'GET', headers } = request;
  const peer = addressOf(connectionKey(connection)) ?? plainAddress(connection.remoteAddress ?? 'unknown');
  const hops = isProxy(peer) ? String(headers['x-forwarded-for'] ?? '').split(',') : [];
  const client = hops.map((hop) => hop.trim()).findLast((hop) => !isProxy(hop));
  return { connection, method, headers, from: client !== undefined && isIP(client) ? client : peer };
}

/** Every request passes here before its body is read. */
export interface RequestGate {
  /** The id of the token that this connection has shown last. */
  tokenOf(connection: object): string | undefined;
  /** Throws a `Fault` unless it was sent to one of our names. */
  checkHost(visitor: Visitor): void;
  /** The caller, if it has this role; otherwise throws a `Fault`. */
  enter(visitor: Visitor, needed: Role | 'anyone'): Caller;
}

// Browsers send these without a preflight from any page, so they must not change anything.
const SAFE = new Set(['GET', 'HEAD', 'OPTIONS']);

const anyone = (from: string): Caller => ({ who: 'anyone', from, role: 'viewer', token: '', by: 'header' });

type GateDeps = Pick<ApiDeps, 'access' | 'log' | 'server' | 'connections'>;

export function openRequestGate({ access, log, server, connections }: GateDeps): RequestGate {
  // What each connection showed last: the same header again need not be hashed again.
  const shown = new WeakMap<object, { readonly authorization: string; readonly caller: Caller }>();

  function authenticated({ connection, headers, from }: Visitor): Caller {
    const { authorization, cookie } = headers;
    const before = shown.get(connection);
    if (before && before.authorization === authorization && access.stillHolds(before.caller)) return before.caller;
    try {
      const caller = access.authenticate({ authorization, cookie, from });
      if (authorization !== undefined) shown.set(connection, { authorization, caller });
      return caller;
    } catch (thrown) {
      if (authorization !== undefined || cookie !== undefined) log('debug', 'request with an invalid token', { from });
      throw thrown;
    }
  }

  return {
    tokenOf: (connection) => shown.get(connection)?.caller.token,
    checkHost: ({ headers: { host } }) => checkHost(host, server.hosts()),
    enter(visitor, needed) {
      if (needed === 'anyone') return anyone(visitor.from);
      const caller = authenticated(visitor);
      connections.authenticated(connectionKey(visitor.connection));
      const isUpgrade = visitor.headers.upgrade !== undefined;
      if (caller.by === 'cookie' && (isUpgrade || !SAFE.has(visitor.method))) checkOrigin(visitor.headers);
      if (isAtLeast(caller.role, needed)) return caller;
      const remedy = `Use a token with the role ${needed}.`;
      throw new Fault('denied', `This needs the role ${needed}; this token has ${caller.role}.`, { remedy });
    },
  };
}

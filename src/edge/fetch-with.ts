import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import type { ServerReach } from '#core/cluster-access.ts';
import { Fault } from '#core/fault.ts';

// As long as API servers keep a connection that nothing uses.
const KEEP_ALIVE_MS = 30_000;

/** Names below `localhost` are this machine (RFC 6761), though many resolvers do not know them. */
const lookUp: LookupFunction = (name, options, done) =>
  lookup(name.endsWith('.localhost') ? '127.0.0.1' : name, options, done);

/**
 * `fetch` for servers behind a socket of this machine, that the system does not trust, or that want a certificate from
 * us. Connections are shared by all calls of one such `fetch`; answers may take as long as their reader has patience,
 * since watches are silent for minutes.
 */
export function fetchWith({ ca, cert, key, serverName, isInsecure, socketPath }: ServerReach): typeof fetch {
  const connect = {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(serverName === undefined ? {} : { servername: serverName }),
    ...(socketPath === undefined ? {} : { socketPath }),
    rejectUnauthorized: isInsecure !== true,
    lookup: lookUp,
  };
  // Only servers that need it pay for it: Node's own fetch takes no certificate and no socket.
  let loading: Promise<typeof fetch> | undefined;

  async function load(): Promise<typeof fetch> {
    // A bundle in several files has only the default of a CommonJS module; Node has both.
    const { Agent, fetch: fetchBy } = (await import('undici')).default;
    const dispatcher = new Agent({ connect, keepAliveTimeout: KEEP_ALIVE_MS, headersTimeout: 0, bodyTimeout: 0 });
    return ((input: string, init: object) => fetchBy(input, { ...init, dispatcher })) as unknown as typeof fetch;
  }

  return async (input, init) => {
    loading ??= load();
    // undici takes no Request but its own.
    if (input instanceof Request) throw new Fault('internal', `fetchWith takes an address: ${input.url}`);
    return (await loading)(String(input), init);
  };
}

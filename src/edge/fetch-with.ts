import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import type { Dispatcher } from 'undici';
import type { ServerReach } from '#core/cluster-access.ts';
import { Fault } from '#core/fault.ts';
import type { ProxyFor } from './proxies.ts';

// As long as API servers keep a connection that nothing uses.
const KEEP_ALIVE_MS = 30_000;

/** Names below `localhost` are this machine (RFC 6761), though many resolvers do not know them. */
const lookUp: LookupFunction = (name, options, done) =>
  lookup(name.endsWith('.localhost') ? '127.0.0.1' : name, options, done);

/**
 * `fetch` for servers behind a socket of this machine or a proxy, that the system does not trust, or that want a
 * certificate from us. Connections are shared by all calls of one such `fetch`; answers may take as long as their reader
 * has patience, since watches are silent for minutes. A proxy of the server's own goes before those of the environment.
 */
export function fetchWith(reach: ServerReach, proxyFor?: ProxyFor): typeof fetch {
  const { ca, cert, key, serverName, isInsecure, socketPath, proxyUrl } = reach;
  const connect = {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(serverName === undefined ? {} : { servername: serverName }),
    ...(socketPath === undefined ? {} : { socketPath }),
    rejectUnauthorized: isInsecure !== true,
    lookup: lookUp,
  };
  const proxyOf = (url: string): string | undefined =>
    socketPath === undefined ? (proxyUrl ?? proxyFor?.(url)) : undefined;
  // Only servers that need it pay for it: Node's own fetch takes no certificate, no socket and no proxy.
  let loading: Promise<typeof fetch> | undefined;

  async function load(): Promise<typeof fetch> {
    // A bundle in several files has only the default of a CommonJS module; Node has both.
    const { Agent, ProxyAgent, fetch: fetchBy } = (await import('undici')).default;
    const patience = { keepAliveTimeout: KEEP_ALIVE_MS, headersTimeout: 0, bodyTimeout: 0 };
    const straight = new Agent({ connect, ...patience });
    const proxied = new Map<string, Dispatcher>();

    function dispatcherTo(url: string): Dispatcher {
      const uri = proxyOf(url);
      if (uri === undefined) return straight;
      const dispatcher = proxied.get(uri) ?? new ProxyAgent({ uri, requestTls: connect, ...patience });
      proxied.set(uri, dispatcher);
      return dispatcher;
    }

    return ((input: string, init: object) =>
      fetchBy(input, { ...init, dispatcher: dispatcherTo(input) })) as unknown as typeof fetch;
  }

  return async (input, init) => {
    loading ??= load();
    // undici takes no Request but its own.
    if (input instanceof Request) throw new Fault('internal', `fetchWith takes an address: ${input.url}`);
    // Nor Headers.
    const headers = init?.headers instanceof Headers ? Object.fromEntries(init.headers) : init?.headers;
    return (await loading)(String(input), headers === undefined ? init : { ...init, headers });
  };
}

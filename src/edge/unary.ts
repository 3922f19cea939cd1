import type { Client, Metadata, ServiceError } from '@grpc/grpc-js';
import { GRPC, type Unary, type UnaryAnswer, type UnaryCall } from '#core/unary.ts';
import type { ProxyFor } from './proxies.ts';

type Grpc = typeof import('@grpc/grpc-js');

// As long as a load balancer keeps a connection that nothing uses.
const IDLE_MS = 300_000;
const NOTHING = new Uint8Array();

const asTheyAre = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** The details of a refusal stand in the trailers, as gRPC libraries write them. */
function detailsOf(metadata: Metadata | undefined): Uint8Array | undefined {
  const [details] = metadata?.get('grpc-status-details-bin') ?? [];
  return details instanceof Uint8Array ? details : undefined;
}

function refused({ code, details, metadata }: ServiceError): UnaryAnswer {
  return { code, text: details, details: detailsOf(metadata), message: NOTHING };
}

/** How to get to an address through a proxy: gRPC asks it for a tunnel. Its library reads variables itself; that is off. */
function tunnelOf(host: string, proxy: string) {
  const { hostname, port, username, password } = new URL(proxy);
  const proof = [username, password].map(decodeURIComponent).join(':');
  return {
    target: `dns:${hostname}:${port || '80'}`,
    options: {
      'grpc.http_connect_target': `dns:${host}`,
      'grpc.default_authority': host,
      ...(username !== '' && { 'grpc.http_connect_creds': proof }),
    },
  };
}

export interface UnaryOptions {
  readonly proxyFor?: ProxyFor | undefined;
  readonly userAgent?: string | undefined;
}

/** gRPC calls to the outside; one connection an address, shared by all calls there. */
export function openUnary({ proxyFor, userAgent }: UnaryOptions = {}): Unary {
  // Only servers that use such a cloud pay for it.
  let loading: Promise<Grpc> | undefined;
  const clients = new Map<string, Client>();

  async function load(): Promise<Grpc> {
    const loaded = await import('@grpc/grpc-js');
    // A bundle in several files has only the default of a CommonJS module; Node has both.
    return (loaded as { default?: Grpc }).default ?? loaded;
  }

  function clientAt({ Client, credentials }: Grpc, address: string): Client {
    const known = clients.get(address);
    if (known) return known;
    const { host, protocol } = new URL(address);
    const channel = protocol === 'https:' ? credentials.createSsl() : credentials.createInsecure();
    const proxy = proxyFor?.(address);
    const { target, options } = proxy === undefined ? { target: host, options: {} } : tunnelOf(host, proxy);
    const client = new Client(target, channel, {
      ...options,
      'grpc.enable_http_proxy': 0,
      ...(userAgent !== undefined && { 'grpc.primary_user_agent': userAgent }),
      'grpc.client_idle_timeout_ms': IDLE_MS,
      'grpc.enable_channelz': 0,
      // The caller knows whether it may be repeated.
      'grpc.enable_retries': 0,
    });
    clients.set(address, client);
    return client;
  }

  function exchange(grpc: Grpc, call: UnaryCall, signal: AbortSignal): Promise<UnaryAnswer> {
    const metadata = new grpc.Metadata();
    for (const [key, value] of Object.entries(call.metadata)) metadata.set(key, value);
    const client = clientAt(grpc, call.address);
    return new Promise((resolve) => {
      const running = client.makeUnaryRequest(
        call.path,
        asTheyAre,
        (bytes: Buffer) => bytes,
        call.message,
        metadata,
        (error, answer) => {
          signal.removeEventListener('abort', cancel);
          resolve(error ? refused(error) : { code: GRPC.OK, text: '', message: answer ?? NOTHING });
        },
      );
      const cancel = (): void => running.cancel();
      signal.addEventListener('abort', cancel, { once: true });
    });
  }

  return async (call, signal) => {
    loading ??= load();
    const grpc = await loading;
    const proxy = proxyFor?.(call.address);
    if (proxy !== undefined && !proxy.startsWith('http:'))
      return { code: GRPC.UNAVAILABLE, text: 'gRPC goes only through proxies with http: addresses', message: NOTHING };
    if (signal.aborted) return { code: GRPC.CANCELLED, text: 'cancelled', message: NOTHING };
    return exchange(grpc, call, signal);
  };
}

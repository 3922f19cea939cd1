import { Fault } from '#core/fault.ts';
import type { TunnelEnd } from '#core/tunnel.ts';
import type { ApiDeps } from './deps.ts';
import { connectTunnel, TUNNEL_ROLE } from './tunnel-socket.ts';
import type { SocketEndpoint, SocketRequest } from './websockets.ts';

const HIGHEST_PORT = 65_535;
const LONGEST_PATH = 4_096;

function portIn({ parts: [, text = ''] }: SocketRequest): TunnelEnd {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port > 0 && port <= HIGHEST_PORT) return { port };
  throw new Fault('invalid', `"${text}" is not a port.`, {
    at: 'path.port',
    remedy: 'Write a number from 1 to 65535.',
  });
}

function pathIn({ query }: SocketRequest): string {
  const path = query.get('path') ?? '';
  if (path !== '' && path.length <= LONGEST_PATH && !path.includes('\0')) return path;
  throw new Fault('invalid', 'The path is missing or not valid.', { at: 'query.path' });
}

/** A port of a session, and its files in both directions. */
export function tunnelEndpoints(deps: ApiDeps, stopping: AbortSignal): readonly SocketEndpoint[] {
  const endpoint = (path: RegExp, endOf: (request: SocketRequest) => TunnelEnd): SocketEndpoint => ({
    path,
    role: TUNNEL_ROLE,
    async open(request) {
      const { caller, signal } = request;
      const to = endOf(request);
      const session = await deps.sessions.refer(request.parts[0] ?? '', caller);
      // The worker may act at once, so what was decided before is durable first.
      await deps.store.durable();
      const tunnel = await deps.sessions.tunnel(session, to, signal);
      signal.addEventListener('abort', tunnel.close, { once: true });
      if (signal.aborted) tunnel.close();
      return (socket) => connectTunnel(socket, tunnel, { deps, caller, stopping });
    },
  });
  return [
    endpoint(/^\/api\/v1\/sessions\/([^/]+)\/ports\/([^/]+)$/, portIn),
    endpoint(/^\/api\/v1\/sessions\/([^/]+)\/read$/, (request) => ({ read: pathIn(request) })),
    endpoint(/^\/api\/v1\/sessions\/([^/]+)\/write$/, (request) => ({ write: pathIn(request) })),
  ];
}

import { Fault } from '#core/fault.ts';
import type { Tunnel, TunnelEnd } from '#core/tunnel.ts';
import { checkSessionUse, machineOf, usableComputer } from './computer-use.ts';
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

type Opens = (request: SocketRequest, to: TunnelEnd) => Promise<Tunnel>;

/** A port of a session or a computer, and its files in both directions. */
export function tunnelEndpoints(deps: ApiDeps, stopping: AbortSignal): readonly SocketEndpoint[] {
  const ofSession: Opens = async ({ caller, parts: [written = ''], signal }, to) => {
    const session = await deps.sessions.refer(written, caller);
    await checkSessionUse(deps, session, caller);
    // The worker may act at once, so what was decided before is durable first.
    await deps.store.durable();
    return deps.sessions.tunnel(session, to, signal);
  };
  const ofComputer: Opens = async ({ caller, parts: [name = ''], signal }, to) => {
    const machine = machineOf(await usableComputer(deps, name, caller), deps.clock.now());
    await deps.store.durable();
    return deps.sessions.machineTunnel(machine, to, signal);
  };

  const endpoint = (noun: string, rest: string, endOf: (request: SocketRequest) => TunnelEnd): SocketEndpoint => ({
    path: new RegExp(`^/api/v1/${noun}/([^/]+)/${rest}$`),
    role: TUNNEL_ROLE,
    async open(request) {
      const { caller, signal } = request;
      const tunnel = await (noun === 'computers' ? ofComputer : ofSession)(request, endOf(request));
      signal.addEventListener('abort', tunnel.close, { once: true });
      if (signal.aborted) tunnel.close();
      return (socket) => connectTunnel(socket, tunnel, { deps, caller, stopping });
    },
  });
  return ['sessions', 'computers'].flatMap((noun) => [
    endpoint(noun, 'ports/([^/]+)', portIn),
    endpoint(noun, 'read', (request) => ({ read: pathIn(request) })),
    endpoint(noun, 'write', (request) => ({ write: pathIn(request) })),
  ]);
}

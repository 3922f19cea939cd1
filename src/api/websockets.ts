import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Role } from '#core/access.ts';
import { Fault } from '#core/fault.ts';
import type { Caller } from '../access/access.ts';
import type { ApiDeps } from './deps.ts';
import { closeWith } from './graceful-close.ts';
import { toProblem } from './problem.ts';
import { type RequestGate, visitorOf } from './request-gate.ts';
import type { RequestsOfToken } from './requests-of-token.ts';

/** A request for a WebSocket, of a caller with the role that it needs. */
export interface SocketRequest {
  readonly caller: Caller;
  /** What stands in the path, decoded. */
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
  /** Aborts when the caller is gone, or the server stops. */
  readonly signal: AbortSignal;
}

/** An endpoint that changes the protocol. */
export interface SocketEndpoint {
  readonly path: RegExp;
  /** The least role that may connect; the connection ends when its token loses it. */
  readonly role: Role;
  /** Runs before the protocol changes; a `Fault` refuses the request. Answers what serves the connection. */
  open(request: SocketRequest): Promise<(socket: WebSocket) => void>;
}

export interface SocketMeans {
  readonly deps: ApiDeps;
  readonly gate: RequestGate;
  readonly requests: RequestsOfToken;
  readonly stopping: AbortSignal;
}

const LONGEST_MESSAGE = 1024 * 1024;

function refuse(socket: Duplex, fault: Fault, deps: ApiDeps): void {
  closeWith(socket, toProblem(fault, deps.redactText), deps.clock);
  // No one else reads the socket, so its end would go unnoticed.
  socket.resume();
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Fault('invalid', 'The path is malformed.', { at: 'path' });
  }
}

export function wholeNumberIn(query: URLSearchParams, name: string): number {
  const text = query.get(name) ?? '0';
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new Fault('invalid', `${name} must be a whole number.`, { at: `query.${name}` });
}

/** Accepts WebSockets at these endpoints; the returned function stops that. */
export function acceptSockets(server: Server, means: SocketMeans, endpoints: readonly SocketEndpoint[]): () => void {
  const { deps, gate, requests, stopping } = means;
  const sockets = new WebSocketServer({ noServer: true, maxPayload: LONGEST_MESSAGE, clientTracking: false });

  /** What serves the request, once its caller has shown the role. */
  async function openEndpoint(request: IncomingMessage, socket: Duplex, signal: AbortSignal) {
    const visitor = visitorOf(request, deps.connections);
    gate.checkHost(visitor);
    const [path = '', ...query] = (request.url ?? '').split('?');
    const endpoint = endpoints.find((each) => each.path.test(path));
    const caller = gate.enter(visitor, endpoint?.role ?? 'viewer');
    if (!endpoint) throw new Fault('missing', 'There is no such page.', { at: 'path', remedy: 'See /docs.' });
    socket.once('close', requests.begin(caller.token, true));
    const parts = endpoint.path.exec(path)?.slice(1).map(decoded) ?? [];
    const serve = await endpoint.open({ caller, parts, query: new URLSearchParams(query.join('?')), signal });
    await deps.store.durable();
    // Whoever stops the server closes those alone that are served by then.
    if (stopping.aborted) throw new Fault('unavailable', 'The server is stopping.');
    return serve;
  }

  /** Drops the socket when its client goes away; the answer ends that, and resolves when others may read. */
  function watchClient(socket: Duplex): () => Promise<void> {
    const gone = (): void => void socket.destroy();
    // Only who reads notices the end. A client sends nothing before the protocol has changed.
    const look = (): void => void (socket.readableLength === 0 && socket.read());
    socket.on('end', gone).on('readable', look);
    return () => {
      socket.off('end', gone).off('readable', look);
      // Only then the stream forgets that listener; it would resume a socket that is paused before.
      return new Promise((resolve) => process.nextTick(resolve));
    };
  }

  async function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const gone = new AbortController();
    const signal = AbortSignal.any([gone.signal, stopping]);
    const broken = (): void => void socket.destroy();
    socket.on('error', broken);
    socket.once('close', () => gone.abort());
    const unwatch = watchClient(socket);
    try {
      const serve = await openEndpoint(request, socket, signal).finally(unwatch);
      socket.off('error', broken);
      sockets.handleUpgrade(request, socket, head, serve);
    } catch (thrown) {
      refuse(socket, Fault.from(thrown), deps);
    }
  }

  const taken = (request: IncomingMessage, socket: Duplex, head: Buffer): void => void upgrade(request, socket, head);
  server.on('upgrade', taken);
  return () => void server.off('upgrade', taken);
}

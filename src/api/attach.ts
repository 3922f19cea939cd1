import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { Fault } from '#core/fault.ts';
import { attachTo } from './attachment.ts';
import type { ApiDeps } from './deps.ts';
import { openTurns } from './encoded-output.ts';
import { closeWith } from './graceful-close.ts';
import { toProblem } from './problem.ts';
import { type RequestGate, visitorOf } from './request-gate.ts';
import type { RequestsOfToken } from './requests-of-token.ts';

interface Means {
  readonly deps: ApiDeps;
  readonly gate: RequestGate;
  readonly requests: RequestsOfToken;
  readonly stopping: AbortSignal;
}

const PATH = /^\/api\/v1\/sessions\/([^/?]+)\/attach(?:\?(.*))?$/;
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

function numberIn(query: URLSearchParams, name: string): number {
  const text = query.get(name) ?? '0';
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new Fault('invalid', `${name} must be a whole number.`, { at: `query.${name}` });
}

/** Caller, session and output position of an attach request; throws a `Fault` if it is refused. */
async function wishOf(request: IncomingMessage, { deps, gate }: Means) {
  const visitor = visitorOf(request, deps.connections);
  gate.checkHost(visitor);
  const caller = gate.enter(visitor, 'operator');
  const match = PATH.exec(request.url ?? '');
  if (!match?.[1]) throw new Fault('missing', 'There is no such page.', { at: 'path', remedy: 'See /docs.' });
  const query = new URLSearchParams(match[2]);
  const session = await deps.sessions.refer(decoded(match[1]), caller);
  return { caller, session, afterSeq: numberIn(query, 'after_seq'), attempt: numberIn(query, 'attempt') || undefined };
}

/** Accepts WebSockets at `/sessions/ID/attach`; the returned function stops that. */
export function acceptAttach(server: Server, means: Means): () => void {
  const { deps, stopping } = means;
  const sockets = new WebSocketServer({ noServer: true, maxPayload: LONGEST_MESSAGE, clientTracking: false });
  const turn = openTurns(deps.clock);

  async function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const broken = (): void => void socket.destroy();
    socket.on('error', broken);
    try {
      const wish = await wishOf(request, means);
      await deps.store.durable();
      socket.once('close', means.requests.begin(wish.caller.token, true));
      socket.off('error', broken);
      sockets.handleUpgrade(request, socket, head, (joined) => attachTo(joined, wish, { deps, stopping, turn }));
    } catch (thrown) {
      refuse(socket, Fault.from(thrown), deps);
    }
  }

  const taken = (request: IncomingMessage, socket: Duplex, head: Buffer): void => void upgrade(request, socket, head);
  server.on('upgrade', taken);
  return () => void server.off('upgrade', taken);
}

import { createServer, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify';
import { openBurstQueue } from '#core/burst-queue.ts';
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { openJsonReader } from '../config/json-text.ts';
import { acceptAttach } from './attach.ts';
import type { ApiDeps } from './deps.ts';
import { type Direct, openDirect } from './direct.ts';
import { farewell } from './farewell.ts';
import { answerFaults, guard, measure, takeText, waitForStore } from './hooks.ts';
import { httpFault, PROBLEM_MEDIA, toProblem } from './problem.ts';
import { register } from './register.ts';
import { watchRepeated } from './repeated-requests.ts';
import { openRequestGate } from './request-gate.ts';
import type { Route } from './route.ts';
import { allRoutes, openHub } from './table.ts';
import { WholeMessage } from './whole-message.ts';

/** How long a client may take; shorter in tests. */
export interface ClientTimeouts {
  readonly headersMs: number;
  readonly requestMs: number;
  readonly idleMs: number;
  readonly checkEveryMs: number;
}

const PATIENCE: ClientTimeouts = { headersMs: 10_000, requestMs: 60_000, idleMs: 75_000, checkEveryMs: 2_000 };
const BODY_LIMIT = 1024 * 1024;
const LONGEST_NAME = 2_000;
const CLOSE_WITHIN_MS = 5_000;
const KEEPALIVE_MS = 30_000;

export interface Api {
  /** Takes sockets that someone else has accepted: `server.emit('connection', socket)`. */
  readonly server: Server;
  readonly app: FastifyInstance;
  readonly routes: readonly Route[];
  /** Ends streams and long waits, lets short answers finish, then closes what is left. */
  close(): Promise<void>;
}

function dropUnread(this: ServerResponse): void {
  if (this.socket && this.socket.writableLength > 0) this.socket.destroy();
}

function makeServer(patience: ClientTimeouts, handler: Parameters<typeof createServer>[1]): Server {
  const server = createServer(
    {
      IncomingMessage: WholeMessage,
      headersTimeout: patience.headersMs,
      requestTimeout: patience.requestMs,
      keepAliveTimeout: patience.idleMs,
      connectionsCheckingInterval: patience.checkEveryMs,
      // `Upgrade: h2c` and the like are ignored.
      shouldUpgradeCallback: (request) => request.headers.upgrade?.toLowerCase() === 'websocket',
    },
    handler,
  );
  // TCP keep-alive detects a dead peer, however long an answer takes.
  server.on('connection', (socket) => socket.setKeepAlive(true, KEEPALIVE_MS));
  // A client that does not read would hold the answer for ever; one that sends nothing does no harm.
  server.timeout = patience.requestMs;
  server.on('request', (_request, answer) => answer.on('timeout', dropUnread));
  // Node watches for slow clients only once a server listens, and this one never does by itself.
  server.emit('listening');
  return server;
}

const noSchemas = () => (): never => {
  throw new Fault('internal', 'A route was registered with a fastify schema of its own.');
};

// It was closed by the client, which has not sent a whole request.
const CLOSED = new Set(['ECONNRESET', 'HPE_INVALID_EOF_STATE']);

/** For requests that are not valid HTTP: there is no reply object yet. */
function refuseRaw(error: NodeJS.ErrnoException, socket: Duplex, clock: Clock): void {
  if (CLOSED.has(error.code ?? '') || !socket.writable) return void socket.destroy();
  const status = error.code === 'HPE_HEADER_OVERFLOW' ? 431 : error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
  const fault = httpFault(status, 'invalid', 'This is not a valid HTTP request.', { at: 'request' });
  const problem = toProblem(fault, (text) => text);
  const body = JSON.stringify(problem);
  const head = `HTTP/1.1 ${status} ${problem.title}\r\ncontent-type: ${PROBLEM_MEDIA}\r\ncontent-length: ${body.length}\r\nconnection: close`;
  farewell(socket, `${head}\r\n\r\n${body}`, clock);
}

/** Serves the HTTP API on a server that the owner of the listening sockets feeds with connections. */
export async function startApi(deps: ApiDeps, patience: ClientTimeouts = PATIENCE): Promise<Api> {
  const stopping = new AbortController();
  const gate = openRequestGate(deps);
  let answer: ReturnType<typeof answerFaults> | undefined;
  let direct: Direct | undefined;
  // Node reads all readable sockets in one iteration of the event loop. Requests beyond the time slice run in later
  // iterations, round robin by token: one busy token does not delay the others.
  const burst = openBurstQueue(deps.clock);
  const inTurn = (connection: object, work: () => void): void => burst.run(work, gate.tokenOf(connection));
  const turn = (connection: object): Promise<void> => burst.turn(gate.tokenOf(connection));
  const app = Fastify({
    bodyLimit: BODY_LIMIT,
    routerOptions: { maxParamLength: LONGEST_NAME },
    frameworkErrors: (error, request, reply) => answer?.(error, request, reply as FastifyReply),
    clientErrorHandler: (error, socket) => burst.run(() => refuseRaw(error, socket, deps.clock)),
    serverFactory: (handler) =>
      makeServer(patience, (request, response) =>
        inTurn(
          request.socket,
          () => request.destroyed || direct?.take(request as WholeMessage, response) || handler(request, response),
        ),
      ),
    forceCloseConnections: true,
    // Our routes validate and serialise themselves; otherwise fastify loads a JSON schema compiler for each.
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
  });
  const server = app.server as Server;
  answer = answerFaults(app, deps);
  takeText(app, inTurn);
  guard(app, gate);
  waitForStore(app, deps);
  const answers = measure(app, deps);
  deps.metrics.followSyncs(deps.pools.timings);
  deps.metrics.followFeatures(deps.features);
  const hub = openHub(deps);
  const routes = allRoutes(deps, hub);
  const means = { deps, stopping: stopping.signal, json: openJsonReader(deps.clock), turn };
  register(app, routes, means);
  const repeated = watchRepeated(server);
  direct = openDirect(routes, { ...means, gate, answers, repeated, inTurn, idleMs: patience.idleMs });
  const detach = acceptAttach(server, { deps, gate, stopping: stopping.signal });
  await app.ready();
  return {
    server,
    app,
    routes,
    async close() {
      stopping.abort();
      detach();
      hub.stop();
      await direct?.quiet(CLOSE_WITHIN_MS);
      server.closeIdleConnections();
      await answers.quiet(CLOSE_WITHIN_MS);
      await app.close();
      // It never listened, so fastify does not close the connections.
      await new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
    },
  };
}

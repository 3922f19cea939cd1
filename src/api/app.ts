import { createServer, type Server } from 'node:http';
import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify';
import { openBurstQueue } from '#core/burst-queue.ts';
import { Fault } from '#core/fault.ts';
import { openJsonReader } from '../config/json-text.ts';
import { attachEndpoint } from './attach.ts';
import { compressAnswers } from './compress.ts';
import { type ClientTimeouts, watchConnections } from './connections.ts';
import type { ApiDeps } from './deps.ts';
import { refuseRaw } from './graceful-close.ts';
import { answerFaults, guard, limitRequests, measure, takeBytes, waitForStore } from './hooks.ts';
import { register } from './register.ts';
import { openRequestGate } from './request-gate.ts';
import { countRequests } from './requests-of-token.ts';
import type { Route } from './route.ts';
import { allRoutes, openFollowed } from './table.ts';
import { tunnelEndpoints } from './tunnels.ts';
import { acceptSockets } from './websockets.ts';

const TIMEOUTS: ClientTimeouts = { headersMs: 10_000, requestMs: 60_000, idleMs: 75_000 };
const BODY_LIMIT = 1024 * 1024;
const LONGEST_NAME = 2_000;
const CLOSE_WITHIN_MS = 5_000;

export interface Api {
  /** Takes sockets that someone else has accepted: `server.emit('connection', socket)`. */
  readonly server: Server;
  readonly app: FastifyInstance;
  readonly routes: readonly Route[];
  /** Ends streams and long waits, lets short answers finish, then closes what is left. */
  close(): Promise<void>;
}

function makeServer({ requestMs, idleMs }: ClientTimeouts, handler: Parameters<typeof createServer>[1]): Server {
  const server = createServer(
    {
      keepAliveTimeout: idleMs,
      // `Upgrade: h2c` and the like are ignored.
      shouldUpgradeCallback: (request) => request.headers.upgrade?.toLowerCase() === 'websocket',
    },
    handler,
  );
  // A client that does not read would hold the answer for ever; one that sends nothing does no harm.
  server.timeout = requestMs;
  return server;
}

const noSchemas = () => (): never => {
  throw new Fault('internal', 'A route was registered with a fastify schema of its own.');
};

/** Serves the HTTP API on a server that the owner of the listening sockets feeds with connections. */
export async function startApi(deps: ApiDeps, times: ClientTimeouts = TIMEOUTS): Promise<Api> {
  const stopping = new AbortController();
  const gate = openRequestGate(deps);
  let answer: ReturnType<typeof answerFaults> | undefined;
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
      makeServer(times, (request, response) =>
        inTurn(request.socket, () => void (request.destroyed || handler(request, response))),
      ),
    forceCloseConnections: true,
    // Our routes validate and serialise themselves; otherwise fastify loads a JSON schema compiler for each.
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
  });
  const server = app.server as Server;
  const connections = watchConnections(server, times, deps.clock);
  answer = answerFaults(app, deps);
  takeBytes(app, inTurn);
  guard(app, gate, deps);
  const requests = countRequests(deps.requestsPerToken);
  limitRequests(app, requests);
  waitForStore(app, deps);
  compressAnswers(app);
  measure(app, deps);
  deps.metrics.followSyncs(deps.pools.timings);
  deps.metrics.followFeatures(deps.features);
  const followed = openFollowed(deps);
  const routes = allRoutes(deps, followed);
  register(app, routes, { deps, stopping: stopping.signal, json: openJsonReader(deps.clock), turn });
  const detach = acceptSockets(server, { deps, gate, requests, stopping: stopping.signal }, [
    attachEndpoint(deps, stopping.signal),
    ...tunnelEndpoints(deps, stopping.signal),
  ]);
  await app.ready();
  return {
    server,
    app,
    routes,
    async close() {
      stopping.abort();
      detach();
      followed.stop();
      await connections.close(CLOSE_WITHIN_MS);
      await app.close();
    },
  };
}

// One path for probes of whatever network the machine is in: it says that the agent is alive, and nothing else of it.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Fault } from '#core/fault.ts';
import { listenerOf } from '#host/listening.ts';

const HEALTHY = '{"healthy":true}';
const HOST = '0.0.0.0';
const MOST_CONNECTIONS = 64;
const LONGEST_HEADERS = 4_096;
const REQUEST_MS = 5_000;
// Node looks for slow requests only every 30 s, unless told otherwise.
const LOOK_EVERY_MS = 1_000;

export interface HealthServer {
  close(): Promise<void>;
}

function statusOf({ method, url = '' }: IncomingMessage): 200 | 404 | 405 {
  if (url.split('?', 1)[0] !== '/health') return 404;
  return method === 'GET' || method === 'HEAD' ? 200 : 405;
}

function answer(request: IncomingMessage, response: ServerResponse): void {
  const status = statusOf(request);
  const body = status === 200 ? HEALTHY : '';
  // The time of its clock is data about the machine.
  response.sendDate = false;
  response.writeHead(status, {
    ...(status === 200 && { 'content-type': 'application/json' }),
    ...(status === 405 && { allow: 'GET, HEAD' }),
    'content-length': body.length,
    connection: 'close',
  });
  response.end(body);
}

function cannotListen(port: number, cause: NodeJS.ErrnoException): Fault {
  if (cause.code !== 'EADDRINUSE') {
    const remedy = 'Choose another port with --serve or `serve`; ports below 1024 need root.';
    return new Fault('denied', `Cannot listen on port ${port}: ${cause.message}.`, { cause, at: 'serve', remedy });
  }
  const owner = listenerOf(port);
  // Its arguments are left out: they may hold secrets, and this goes to a log.
  const by = owner ? ` by process ${owner.pid} (${JSON.stringify(owner.program.split(' ', 1)[0])})` : '';
  return new Fault('conflict', `Port ${port} of this machine is in use${by}.`, {
    cause,
    at: 'serve',
    remedy: 'Stop what listens there, or choose another port with --serve or `serve`.',
  });
}

async function listen(server: Server, port: number): Promise<void> {
  try {
    server.listen(port, HOST);
    await once(server, 'listening');
  } catch (thrown) {
    throw cannotListen(port, thrown as NodeJS.ErrnoException);
  }
}

/** Answers `GET /health` with 200 until it is closed; a `Fault` where the port cannot be had. */
export async function serveHealth(port: number, requestMs = REQUEST_MS): Promise<HealthServer> {
  const limits = {
    maxHeaderSize: LONGEST_HEADERS,
    headersTimeout: requestMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: Math.min(requestMs, LOOK_EVERY_MS),
  };
  const server = createServer(limits, answer);
  server.maxConnections = MOST_CONNECTIONS;
  // A client that does not read its answer.
  server.timeout = requestMs;
  await listen(server, port);
  return {
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

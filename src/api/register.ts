import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Fault } from '#core/fault.ts';
import type { Caller } from '../access/access.ts';
import type { JsonReader } from '../config/json-text.ts';
import { checked } from './checked.ts';
import type { ApiDeps } from './deps.ts';
import { originOf } from './origin.ts';
import { httpFault } from './problem.ts';
import type { Call, Route } from './route.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route of our table; absent for unknown paths. */
    muster?: Route;
  }
  interface FastifyRequest {
    /** Set at the gate. */
    caller: Caller;
  }
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
const STILL_ALLOWED_EVERY_MS = 15_000;

// As many as a schema checks within some ten milliseconds.
const MOST_VALUES = 20_000;

/** The text of a body, read as the route takes it. */
function bodyOf(route: Route, request: FastifyRequest, json: JsonReader): unknown {
  const text = request.body === undefined || request.body === '' ? undefined : String(request.body);
  if (text === undefined || !route.body) return undefined;
  const media = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? '';
  const isYaml = media.endsWith('yaml');
  if (route.bodyMedia) return text;
  if (isYaml) throw httpFault(415, 'invalid', 'The body must be JSON.', { at: 'headers.content-type' });
  try {
    return json.read(text, route.mostValues ?? MOST_VALUES);
  } catch (cause) {
    throw badBody(cause);
  }
}

function badBody(cause: unknown): Fault {
  const { message, remedy } = Fault.from(cause);
  return httpFault(400, 'invalid', message, { at: 'body', cause, remedy });
}

const TOKEN_OVER = 'The token of this request has expired or was revoked meanwhile.';

/** Aborts when the client is gone, the server stops, or while a long answer goes on the token is revoked. */
function signalOf(deps: ApiDeps, request: FastifyRequest, reply: FastifyReply, stopping: AbortSignal): AbortSignal {
  const { muster: route } = request.routeOptions.config;
  const gone = new AbortController();
  let cancel = (): void => {};
  const end = (why?: Fault): void => {
    cancel();
    stopping.removeEventListener('abort', stop);
    gone.abort(why);
  };
  const stop = (): void => end();
  const look = (): void => {
    if (!deps.access.stillHolds(request.caller)) return end(new Fault('unauthenticated', TOKEN_OVER));
    cancel = deps.clock.alarm(STILL_ALLOWED_EVERY_MS, look);
  };
  if (route?.role !== 'anyone') cancel = deps.clock.alarm(STILL_ALLOWED_EVERY_MS, look);
  stopping.addEventListener('abort', stop, { once: true });
  reply.raw.once('close', stop);
  return gone.signal;
}

function callOf(
  route: Route,
  request: FastifyRequest,
  reply: FastifyReply,
): Omit<Call<unknown, unknown, unknown>, 'signal' | 'body'> {
  return {
    params: route.params && checked(route.params, request.params, 'path'),
    query: checkedQuery(route, request.query),
    headers: request.headers,
    caller: request.caller,
    origin: originOf(request),
    header: (name, value) => void reply.header(name, value),
    status: (code) => void reply.code(code),
  };
}

function checkedQuery(route: Route, query: unknown): unknown {
  if (route.query) return checked(route.query, query, 'query');
  const [unknown] = Object.keys(query as object);
  if (unknown === undefined) return undefined;
  throw httpFault(422, 'invalid', `query.${unknown}: Unknown key.`, { at: `query.${unknown}` });
}

/** What is wrong with path or query is told first, whatever the body holds. */
async function checkedBody(route: Route, request: FastifyRequest, json: JsonReader): Promise<unknown> {
  if (!route.body) return undefined;
  const read = bodyOf(route, request, json);
  const value = read instanceof Promise ? await read.catch((thrown) => Promise.reject(badBody(thrown))) : read;
  return checked(route.body, value, 'body');
}

function add(app: FastifyInstance, route: Route, { deps, stopping, json }: Registering): void {
  app.route({
    method: route.method,
    url: route.path,
    config: { muster: route },
    // A HEAD request for an endless answer would wait for ever.
    exposeHeadRoute: route.method === 'GET' && !route.isStream,
    ...(route.bodyLimit !== undefined && { bodyLimit: route.bodyLimit }),
    async handler(request, reply) {
      const call = { ...callOf(route, request, reply), body: await checkedBody(route, request, json) };
      reply.code(route.status ?? 200);
      let signal: AbortSignal | undefined;
      const answer = await route.handle({
        ...call,
        get signal() {
          signal ??= signalOf(deps, request, reply, stopping);
          return signal;
        },
      });
      // What was waited for is not for a caller whose token ended meanwhile.
      if (!route.isStream && signal?.reason instanceof Fault) throw signal.reason;
      // The headers are sent at once, so that a client knows that the stream is open.
      if (route.isStream) reply.raw.once('pipe', () => reply.raw.flushHeaders());
      if (route.media && !reply.hasHeader('content-type')) reply.type(`${route.media[0]}; charset=utf-8`);
      return reply.send(answer);
    },
  });
}

/** Other methods on an existing path: 405 with the allowed methods. */
function addOtherMethods(app: FastifyInstance, path: string, routes: readonly Route[]): void {
  const taken = new Set<string>(routes.map((route) => route.method));
  if (routes.some((route) => route.method === 'GET' && !route.isStream)) taken.add('HEAD');
  const allow = [...taken, 'OPTIONS'].join(', ');
  app.route({
    method: 'OPTIONS',
    url: path,
    handler: (_request, reply) => reply.code(204).header('allow', allow).send(),
  });
  app.route({
    method: METHODS.filter((method) => !taken.has(method)),
    url: path,
    exposeHeadRoute: false,
    handler(request, reply) {
      reply.header('allow', allow);
      throw httpFault(405, 'unsupported', `${request.method} is not supported on this path.`, {
        at: 'method',
        remedy: `Use ${allow}.`,
      });
    },
  });
}

interface Registering {
  readonly deps: ApiDeps;
  readonly stopping: AbortSignal;
  readonly json: JsonReader;
}

/** Registers the table of routes with fastify. */
export function register(app: FastifyInstance, routes: readonly Route[], means: Registering): void {
  for (const route of routes) add(app, route, means);
  for (const [path, same] of Map.groupBy(routes, (route) => route.path)) addOtherMethods(app, path, same);
}

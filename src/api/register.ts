import type { IncomingHttpHeaders } from 'node:http';
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

// As many as a schema checks within some ten milliseconds.
const MOST_VALUES = 20_000;

type SentBody = Pick<FastifyRequest, 'body' | 'headers'>;

// Mostly it is exactly that.
const isYamlMedia = (type: string): boolean =>
  type !== 'application/json' && type.split(';')[0]?.trim().toLowerCase().endsWith('yaml') === true;

/** A body, read as the route takes it. */
function bodyOf(route: Route, request: SentBody, json: JsonReader): unknown {
  if (route.isUpload) return request.body;
  const body = request.body as Buffer | undefined;
  if (body === undefined || body.length === 0 || !route.body) return undefined;
  const isYaml = isYamlMedia(request.headers['content-type'] ?? '');
  if (route.bodyMedia) return body.toString('utf8');
  if (isYaml) throw httpFault(415, 'invalid', 'The body must be JSON.', { at: 'headers.content-type' });
  try {
    return json.read(body, route.mostValues ?? MOST_VALUES);
  } catch (cause) {
    throw badBody(cause);
  }
}

function badBody(cause: unknown): Fault {
  const { message, remedy } = Fault.from(cause);
  return httpFault(400, 'invalid', message, { at: 'body', cause, remedy });
}

/** Says `close` when an answer was sent, or its caller is gone. */
export interface Closing {
  once(event: 'close', closed: () => void): unknown;
}

interface Answered {
  readonly route: Route;
  readonly caller: Caller;
  readonly response: Closing;
}

/** Aborts when the client is gone, the server stops, or the token of a long answer ends. */
export function signalOf({ deps, stopping }: Registering, { route, caller, response }: Answered): AbortSignal {
  const gone = new AbortController();
  let unwatch = (): void => {};
  const end = (why?: Fault): void => {
    unwatch();
    stopping.removeEventListener('abort', stop);
    gone.abort(why);
  };
  const stop = (): void => end();
  if (route.role !== 'anyone') unwatch = deps.access.watchToken(caller.token, route.role, end);
  stopping.addEventListener('abort', stop, { once: true });
  response.once('close', stop);
  return gone.signal;
}

/** What a handler gets. A class, because most handlers read a few of these, and each request makes one. */
class HandlerCall implements Call<unknown, unknown, unknown> {
  readonly params: unknown;
  readonly query: unknown;
  body: unknown;
  readonly #route: Route;
  readonly #means: Registering;
  readonly #request: FastifyRequest;
  readonly #reply: FastifyReply;
  #signal: AbortSignal | undefined;

  constructor(route: Route, request: FastifyRequest, reply: FastifyReply, means: Registering) {
    this.params = route.params && checked(route.params, request.params, 'path');
    this.query = checkedQuery(route, request.query);
    this.#route = route;
    this.#request = request;
    this.#reply = reply;
    this.#means = means;
  }

  get headers(): IncomingHttpHeaders {
    return this.#request.headers;
  }

  get caller(): Caller {
    return this.#request.caller;
  }

  get origin(): string {
    return originOf(this.#request.raw);
  }

  get signal(): AbortSignal {
    const answered = { route: this.#route, caller: this.caller, response: this.#reply.raw };
    this.#signal ??= signalOf(this.#means, answered);
    return this.#signal;
  }

  get turn(): () => Promise<void> {
    return () => this.#means.turn(this.#request.raw.socket);
  }

  /** Why the answer may no longer be shown, if the handler waited for long. */
  get refusal(): Fault | undefined {
    const why: unknown = this.#signal?.reason;
    return why instanceof Fault ? why : undefined;
  }

  readonly header = (name: string, value: string): void => void this.#reply.header(name, value);

  readonly status = (code: number): void => void this.#reply.code(code);
}

function checkedQuery(route: Route, query: unknown): unknown {
  if (route.query) return checked(route.query, query, 'query');
  const [unknown] = Object.keys(query as object);
  if (unknown === undefined) return undefined;
  throw httpFault(422, 'invalid', `query.${unknown}: Unknown key.`, { at: `query.${unknown}` });
}

/** The body, or a promise of it where it is long. Errors in path or query are reported first, whatever the body holds. */
function checkedBody(route: Route, request: SentBody, json: JsonReader): unknown {
  const { body } = route;
  if (!body) return undefined;
  const read = bodyOf(route, request, json);
  if (!(read instanceof Promise)) return checked(body, read, 'body');
  return read.then(
    (value) => checked(body, value, 'body'),
    (thrown) => Promise.reject(badBody(thrown)),
  );
}

const JSON_MEDIA = 'application/json; charset=utf-8';

/** Makes a JSON text of an answer that is data; texts, bytes and streams stay as they are. */
function asSent(route: Route, reply: FastifyReply, answer: unknown): unknown {
  if (route.media) {
    if (!reply.hasHeader('content-type')) reply.type(`${route.media[0]}; charset=utf-8`);
    return answer;
  }
  if (answer === undefined) return answer;
  reply.header('content-type', JSON_MEDIA);
  return JSON.stringify(answer);
}

const UPLOAD_MEDIA = 'application/octet-stream';

/** Only here bytes are a body: elsewhere their media type is refused. */
function addUpload(app: FastifyInstance, route: Route, means: Registering): void {
  void app.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(UPLOAD_MEDIA, (_request, content, taken) => taken(null, content));
    add(scope, route, means);
    done();
  });
}

function add(app: FastifyInstance, route: Route, means: Registering): void {
  app.route({
    method: route.method,
    url: route.path,
    config: { muster: route },
    // A HEAD request for an endless answer would wait for ever.
    exposeHeadRoute: route.method === 'GET' && !route.isStream,
    ...(route.bodyLimit !== undefined && { bodyLimit: route.bodyLimit }),
    async handler(request, reply) {
      const call = new HandlerCall(route, request, reply, means);
      const body = checkedBody(route, request, means.json);
      call.body = body instanceof Promise ? await body : body;
      reply.code(route.status ?? 200);
      const answer = await route.handle(call);
      // What was waited for is not for a caller whose token ended meanwhile.
      if (!route.isStream && call.refusal) throw call.refusal;
      // The headers are sent at once, so that a client knows that the stream is open.
      if (route.isStream) reply.raw.once('pipe', () => reply.raw.flushHeaders());
      return reply.send(asSent(route, reply, answer));
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

export interface Registering {
  readonly deps: ApiDeps;
  readonly stopping: AbortSignal;
  readonly json: JsonReader;
  /** Resolves when the round robin reaches the token of this connection. */
  turn(connection: object): Promise<void>;
}

/** Registers the table of routes with fastify. */
export function register(app: FastifyInstance, routes: readonly Route[], means: Registering): void {
  for (const route of routes) (route.isUpload ? addUpload : add)(app, route, means);
  for (const [path, same] of Map.groupBy(routes, (route) => route.path)) addOtherMethods(app, path, same);
}

// Hooks call back rather than return promises: each promise costs every request some turns.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Fault } from '#core/fault.ts';
import type { ApiDeps } from './deps.ts';
import { PAGE_POLICY } from './html.ts';
import { isBrowser, loginPage } from './login-page.ts';
import { originOf } from './origin.ts';
import { httpStatusOf, PROBLEM_MEDIA, requestFaultOf, toProblem } from './problem.ts';
import { type RequestGate, visitorOf } from './request-gate.ts';
import type { RequestsOfToken } from './requests-of-token.ts';
import { dashboardPage } from './web-page.ts';
import type { HttpProblem } from './wire/problem.ts';

/** What is answered in place of what was asked for; a bug is logged. */
export function problemOf(
  thrown: unknown,
  { log, redactText }: Pick<ApiDeps, 'log' | 'redactText'>,
  about: { readonly id: string; readonly method: string; readonly route: string | undefined },
): { readonly problem: HttpProblem; readonly headers: Readonly<Record<string, string>> } {
  const fault = requestFaultOf(thrown);
  if (fault.kind === 'internal') {
    const { stack } = (fault.cause as Error | undefined) ?? fault;
    log('error', 'request failed', { ...about, stack });
  }
  return {
    problem: toProblem(fault, redactText, about.id),
    headers: {
      ...(fault.retryAfterMs !== undefined && { 'retry-after': String(Math.ceil(fault.retryAfterMs / 1_000)) }),
      ...(fault.kind === 'unauthenticated' && { 'www-authenticate': 'Bearer realm="muster"' }),
    },
  };
}

/** Sends errors as problem+json; a browser that is not logged in gets a page. Returns the function that does so. */
export function answerFaults(
  app: FastifyInstance,
  deps: ApiDeps,
): (thrown: unknown, request: FastifyRequest, reply: FastifyReply) => void {
  const answer = (thrown: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    // The caller has gone in the middle of its request.
    if (request.raw.socket.destroyed) return void reply.hijack();
    const { id, method, headers: asked } = request;
    const { problem, headers } = problemOf(thrown, deps, { id, method, route: request.routeOptions.url });
    reply.headers(headers);
    if (problem.kind === 'unauthenticated' && isBrowser(method, asked)) {
      const page = loginPage({ why: problem.detail, origin: originOf(request.raw) });
      reply.header('content-security-policy', PAGE_POLICY);
      return void reply.code(problem.status).type('text/html; charset=utf-8').send(page);
    }
    void reply.code(problem.status).type(PROBLEM_MEDIA).send(JSON.stringify(problem));
  };
  app.setErrorHandler(answer);
  // The paths of the dashboard are its own: its page shows which of them names nothing.
  app.setNotFoundHandler((request, reply) => {
    if (!isBrowser(request.method, request.headers) || /^\/(api|assets)\//.test(request.url))
      return answer(
        new Fault('missing', 'There is no such page.', { at: 'path', remedy: 'See /docs.' }),
        request,
        reply,
      );
    const header = (name: string, value: string): void => void reply.header(name, value);
    dashboardPage(deps, { headers: request.headers, header }).then(
      (page) => void reply.send(page),
      (thrown) => answer(thrown, request, reply),
    );
  });
  return answer;
}

/** Whether an answer may show what was committed and is not durable yet. */
function mustWait(request: FastifyRequest, reply: FastifyReply): boolean {
  const { muster: route } = request.routeOptions.config;
  return !route?.isHealth && !(route?.isDurable && reply.statusCode < 400);
}

export const storeFailed = (thrown: unknown): Fault =>
  new Fault('unavailable', `The store failed: ${Fault.from(thrown).message}`, { remedy: 'Wait; the server restarts.' });

/** An answer waits until everything that it shows is durable. A failed store ends the process; until then the answer is 503. */
export function waitForStore(app: FastifyInstance, { store, redactText }: ApiDeps): void {
  function failed(thrown: unknown, payload: unknown, reply: FastifyReply): string {
    if (payload instanceof Object && 'destroy' in payload && typeof payload.destroy === 'function') payload.destroy();
    const fault = storeFailed(thrown);
    for (const name of ['content-length', 'etag', 'location', 'set-cookie']) reply.removeHeader(name);
    reply.code(httpStatusOf(fault)).type(PROBLEM_MEDIA);
    return JSON.stringify(toProblem(fault, redactText));
  }
  app.addHook('onSend', (request, reply, payload, done) => {
    if (!mustWait(request, reply)) return done(null, payload);
    store.durable().then(
      () => done(null, payload),
      (thrown) => done(null, failed(thrown, payload, reply)),
    );
  });
}

/** Of every answer; pages have policies of their own. */
export const SAFE_HEADERS = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
};

/** Every request needs the right Host, a valid token and the role of the route. */
export function guard(app: FastifyInstance, gate: RequestGate, { connections }: Pick<ApiDeps, 'connections'>): void {
  app.decorateRequest('caller');
  function enter(request: FastifyRequest): void {
    const { muster: route } = request.routeOptions.config;
    const visitor = visitorOf(request.raw, connections);
    // Health probes do not know the host name of the server.
    if (!route?.isHealth || route.role !== 'anyone') gate.checkHost(visitor);
    request.caller = gate.enter(visitor, route?.role ?? 'viewer');
  }
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(SAFE_HEADERS);
    try {
      enter(request);
    } catch (thrown) {
      return done(thrown as Error);
    }
    done();
  });
}

const isLong = ({ routeOptions, query }: FastifyRequest): boolean =>
  routeOptions.config.muster?.isStream === true || 'wait' in (query as object);

/** Bounds the requests of a token that are being answered. */
export function limitRequests(app: FastifyInstance, requests: RequestsOfToken): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (request.caller.token === '') return done();
    try {
      reply.raw.once('close', requests.begin(request.caller.token, isLong(request)));
    } catch (thrown) {
      return done(thrown as Error);
    }
    done();
  });
}

export function measure(app: FastifyInstance, { metrics }: ApiDeps): void {
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'none';
    metrics.httpAnswered({ method: request.method, route, status: reply.statusCode, ms: reply.elapsedTime });
    done();
  });
}

/**
 * Bodies come as bytes; each route reads them in its own way. Long ones become no text here: that would hold up all others.
 * The bodies of many requests may end in one iteration of the event loop, so their handlers are queued.
 */
export function takeBytes(app: FastifyInstance, inTurn: (connection: object, work: () => void) => void): void {
  app.removeAllContentTypeParsers();
  const kinds = ['application/json', 'application/yaml', 'application/x-yaml', 'text/yaml', 'text/x-yaml'];
  app.addContentTypeParser(kinds, { parseAs: 'buffer' }, (request, body, done) =>
    inTurn(request.raw.socket, () => done(null, body)),
  );
}

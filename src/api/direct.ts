// Programs that submit sessions keep their connection. For a route that is asked very often, their requests go past
// fastify: its hooks, its objects and its promises cost as much as the rest of the request.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Fault } from '#core/fault.ts';
import type { Caller } from '../access/access.ts';
import { type Measured, problemOf, SAFE_HEADERS, storeFailed } from './hooks.ts';
import { originOf } from './origin.ts';
import { PROBLEM_MEDIA } from './problem.ts';
import { checkedBody, JSON_MEDIA, type Registering, signalOf } from './register.ts';
import type { RequestGate } from './request-gate.ts';
import type { Call, Route } from './route.ts';
import type { WholeMessage } from './whole-message.ts';

/** Takes a request, or answers false: then it has not touched it. */
export type Direct = (request: WholeMessage, response: ServerResponse) => boolean;

export interface DirectMeans extends Registering {
  readonly gate: Pick<RequestGate, 'passes'>;
  readonly answers: Pick<Measured, 'opened'>;
}

// What is longer is rare, and fastify bounds it.
const LONGEST_BODY = 64 * 1_024;

const safeHeaders: readonly string[] = Object.entries(SAFE_HEADERS).flat();

/** What a handler gets. */
class DirectCall implements Call<unknown, unknown, unknown> {
  readonly params = undefined;
  readonly query = undefined;
  body: unknown;
  readonly caller: Caller;
  code: number;
  readonly sent: string[] = [...safeHeaders];
  readonly #route: Route;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #means: Registering;
  #signal: AbortSignal | undefined;

  constructor(route: Route, caller: Caller, exchange: Exchange, means: Registering) {
    this.#route = route;
    this.caller = caller;
    this.code = route.status ?? 200;
    this.#request = exchange.request;
    this.#response = exchange.response;
    this.#means = means;
  }

  get headers(): IncomingMessage['headers'] {
    return this.#request.headers;
  }

  get origin(): string {
    return originOf(this.#request);
  }

  get signal(): AbortSignal {
    const { caller } = this;
    this.#signal ??= signalOf(this.#means, { route: this.#route, caller, response: this.#response });
    return this.#signal;
  }

  /** Why the answer may no longer be shown, if the handler waited for long. */
  get refusal(): Fault | undefined {
    const why: unknown = this.#signal?.reason;
    return why instanceof Fault ? why : undefined;
  }

  readonly header = (name: string, value: string): void => void this.sent.push(name, value);

  readonly status = (code: number): void => {
    this.code = code;
  };
}

interface Exchange {
  readonly request: WholeMessage;
  readonly response: ServerResponse;
}

function send({ response }: Exchange, code: number, headers: string[], text: string): void {
  if (response.destroyed) return;
  headers.push('content-length', String(Buffer.byteLength(text)));
  response.writeHead(code, headers);
  response.end(text);
}

/** The routes that are asked very often, for callers whose connection has passed the gate before. */
export function openDirect(routes: readonly Route[], means: DirectMeans): Direct {
  const { deps, gate, answers, stopping, json } = means;
  const { store, metrics, clock } = deps;
  // By connection.
  const answeredMs = new WeakMap<object, number>();
  const byPath = new Map(routes.filter((route) => route.isDirect).map((route) => [route.path, route]));

  async function refuse(thrown: unknown, route: Route, exchange: Exchange): Promise<number> {
    const about = { id: 'direct', method: route.method, route: route.path };
    const { problem, headers } = problemOf(thrown, deps, about);
    // As every other answer: what it shows may be committed, and not durable yet.
    const shown = await store.durable().then(
      () => ({ problem, headers }),
      (failed) => problemOf(storeFailed(failed), deps, about),
    );
    const sent = [
      ...safeHeaders,
      ...Object.entries(shown.headers).flat(),
      'content-type',
      `${PROBLEM_MEDIA}; charset=utf-8`,
    ];
    send(exchange, shown.problem.status, sent, JSON.stringify(shown.problem));
    return shown.problem.status;
  }

  async function answer(route: Route, caller: Caller, exchange: Exchange, sent: Buffer): Promise<number> {
    try {
      const call = new DirectCall(route, caller, exchange, means);
      const body = checkedBody(route, { body: sent, headers: exchange.request.headers }, json);
      call.body = body instanceof Promise ? await body : body;
      const shown = await route.handle(call);
      if (call.refusal) throw call.refusal;
      call.sent.push('content-type', JSON_MEDIA);
      send(exchange, call.code, call.sent, JSON.stringify(shown));
      return call.code;
    } catch (thrown) {
      return refuse(thrown, route, exchange);
    }
  }

  function take(route: Route, caller: Caller, exchange: Exchange): void {
    const { request, response } = exchange;
    const startMs = clock.monotonic();
    const { socket } = request;
    const lastMs = answeredMs.get(socket);
    if (lastMs !== undefined) store.cameAgain(startMs - lastMs);
    answers.opened(response);
    request.takeWhole((body) => {
      void answer(route, caller, exchange, body).then((status) => {
        const endMs = clock.monotonic();
        answeredMs.set(socket, endMs);
        metrics.httpAnswered({ method: route.method, route: route.path, status, ms: endMs - startMs });
      });
    });
    // A caller that went away in the middle of its request.
    request.on('error', () => response.destroy());
  }

  return (request, response) => {
    const route = byPath.get(request.url ?? '');
    if (route === undefined || route.method !== request.method || stopping.aborted) return false;
    const { headers, socket, method } = request;
    if (headers['content-type'] !== 'application/json' || !(Number(headers['content-length']) <= LONGEST_BODY))
      return false;
    const caller = gate.passes({ connection: socket, method, headers, from: '' }, route.role);
    if (!caller) return false;
    take(route, caller, { request, response });
    return true;
  };
}

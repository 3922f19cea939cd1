// Programs that submit sessions keep their connection. For a route that is asked very often, their requests go past
// fastify: its hooks, its objects and its promises cost as much as the rest of the request.
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Fault } from '#core/fault.ts';
import type { Caller } from '../access/access.ts';
import { type DirectExchange, nodesExchange, RawExchange, tailOf } from './direct-exchange.ts';
import { problemOf, SAFE_HEADERS, storeFailed } from './hooks.ts';
import { type InFlight, openInFlight } from './in-flight.ts';
import { originOf } from './origin.ts';
import { PROBLEM_MEDIA } from './problem.ts';
import { checkedBody, JSON_MEDIA, type Registering, signalOf } from './register.ts';
import type { RepeatedRequests, Taker } from './repeated-requests.ts';
import type { RequestGate } from './request-gate.ts';
import type { Call, Route } from './route.ts';
import type { WholeMessage } from './whole-message.ts';

export interface Direct {
  /** Takes a request, or answers false: then it has not touched it. */
  take(request: WholeMessage, response: ServerResponse): boolean;
  /** Resolves when all that was taken past Node is answered, or after that time: Node takes such connections for idle. */
  quiet(withinMs: number): Promise<void>;
}

export interface DirectMeans extends Registering {
  readonly gate: Pick<RequestGate, 'passes'>;
  readonly answers: Pick<InFlight, 'begun'>;
  readonly repeated: RepeatedRequests;
  /** Runs it in its share of a turn. */
  inTurn(connection: object, work: () => void): void;
  /** How long a connection may be idle, as its answers say. */
  readonly idleMs: number;
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
  readonly #exchange: DirectExchange;
  readonly #means: Registering;
  #signal: AbortSignal | undefined;

  constructor(route: Route, caller: Caller, exchange: DirectExchange, means: Registering) {
    this.#route = route;
    this.caller = caller;
    this.code = route.status ?? 200;
    this.#exchange = exchange;
    this.#means = means;
  }

  get headers(): IncomingHttpHeaders {
    return this.#exchange.headers;
  }

  get origin(): string {
    return originOf(this.#exchange);
  }

  get signal(): AbortSignal {
    const { caller } = this;
    this.#signal ??= signalOf(this.#means, { route: this.#route, caller, response: this.#exchange.response });
    return this.#signal;
  }

  get turn(): () => Promise<void> {
    return () => this.#means.turn(this.#exchange.socket);
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

/** The routes that are asked very often, for callers whose connection has passed the gate before. */
export function openDirect(routes: readonly Route[], means: DirectMeans): Direct {
  const { deps, gate, answers, stopping, json, repeated, inTurn, idleMs } = means;
  const { store, metrics, clock } = deps;
  const tail = tailOf(clock, idleMs);
  const pastNode = openInFlight(clock);
  // By connection.
  const answeredMs = new WeakMap<object, number>();
  const byPath = new Map(routes.filter((route) => route.isDirect).map((route) => [route.path, route]));

  async function refuse(thrown: unknown, route: Route, exchange: DirectExchange): Promise<number> {
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
    exchange.send(shown.problem.status, sent, JSON.stringify(shown.problem));
    return shown.problem.status;
  }

  async function answer(route: Route, caller: Caller, exchange: DirectExchange, sent: Buffer): Promise<number> {
    try {
      const call = new DirectCall(route, caller, exchange, means);
      const body = checkedBody(route, { body: sent, headers: exchange.headers }, json);
      call.body = body instanceof Promise ? await body : body;
      const shown = await route.handle(call);
      if (call.refusal) throw call.refusal;
      call.sent.push('content-type', JSON_MEDIA);
      exchange.send(call.code, call.sent, JSON.stringify(shown));
      return call.code;
    } catch (thrown) {
      return refuse(thrown, route, exchange);
    }
  }

  /** Answers, and measures that. */
  async function serve(
    route: Route,
    caller: Caller,
    exchange: DirectExchange,
    body: Buffer,
    startMs: number,
  ): Promise<void> {
    const status = await answer(route, caller, exchange, body);
    const endMs = clock.monotonic();
    answeredMs.set(exchange.socket, endMs);
    metrics.httpAnswered({ method: route.method, route: route.path, status, ms: endMs - startMs });
  }

  function begun(socket: Socket): number {
    const startMs = clock.monotonic();
    const lastMs = answeredMs.get(socket);
    if (lastMs !== undefined) store.cameAgain(startMs - lastMs);
    return startMs;
  }

  function passes(route: Route, socket: Socket, headers: IncomingHttpHeaders): Caller | undefined {
    if (stopping.aborted) return undefined;
    return gate.passes({ connection: socket, method: route.method, headers, from: '' }, route.role);
  }

  /** Requests with the same head on the same connection. */
  function takerOf(route: Route, { socket, headers }: WholeMessage): Taker {
    return (body, answered) => {
      const caller = body.length <= LONGEST_BODY ? passes(route, socket, headers) : undefined;
      if (!caller) return false;
      const ended = pastNode.begun();
      const startMs = begun(socket);
      inTurn(socket, () => {
        void serve(route, caller, new RawExchange(socket, headers, tail), body, startMs).then(() => {
          ended();
          answered();
        });
      });
      return true;
    };
  }

  function take(route: Route, caller: Caller, request: WholeMessage, response: ServerResponse): void {
    const startMs = begun(request.socket);
    response.once('close', answers.begun());
    request.takeWhole((body) => void serve(route, caller, nodesExchange(request, response), body, startMs));
    // A caller that went away in the middle of its request.
    request.on('error', () => response.destroy());
    repeated.learn(request, takerOf(route, request));
  }

  return {
    take(request, response) {
      const route = byPath.get(request.url ?? '');
      if (route === undefined || route.method !== request.method) return false;
      const { headers, socket } = request;
      if (headers['content-type'] !== 'application/json' || !(Number(headers['content-length']) <= LONGEST_BODY))
        return false;
      const caller = passes(route, socket, headers);
      if (!caller) return false;
      take(route, caller, request, response);
      return true;
    },
    quiet: pastNode.quiet,
  };
}

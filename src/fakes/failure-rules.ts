import type { Clock } from '#core/clock.ts';
import { refusal } from './refusal.ts';

/** A request as far as every cloud has it; a cloud adds the rest. */
export interface WireCall {
  readonly service: string;
  readonly action: string;
  /** Empty where the cloud has no regions. */
  readonly region: string;
}

/** What goes wrong with a call. */
export type CallFailure =
  /** Carried out; then the connection breaks before the client has read the answer. */
  | { readonly kind: 'lost reply' }
  /** Carried out; the connection breaks after half of the answer. */
  | { readonly kind: 'truncated reply' }
  /** Not carried out: the connection breaks before the request has arrived. */
  | { readonly kind: 'lost request' }
  /** Not carried out: the name does not resolve, as for a region that does not exist. */
  | { readonly kind: 'no such host' }
  /** No answer until the client aborts; `done` says whether the call was carried out. */
  | { readonly kind: 'hang'; readonly done?: boolean }
  | { readonly kind: 'slow'; readonly ms: number }
  | { readonly kind: 'throttle' }
  | { readonly kind: 'error'; readonly code: string; readonly message?: string; readonly status?: number }
  /** Not an answer of the cloud: the page of a gateway, say. */
  | { readonly kind: 'garbage'; readonly status?: number };

export interface FailureRule<Call extends WireCall> {
  readonly what: CallFailure;
  /** Undefined: any service, action or region. */
  readonly service?: Call['service'] | undefined;
  readonly action?: string | undefined;
  readonly region?: string | undefined;
  /** Number of matching calls that succeed first. */
  readonly after?: number | undefined;
  /** Number of calls that then fail; default 1. */
  readonly times?: number | undefined;
  readonly when?: ((call: Call) => boolean) | undefined;
}

export interface FailureRules<Call extends WireCall> {
  /** The returned function removes it. */
  add(failureRule: FailureRule<Call>): () => void;
  clear(): void;
  /** What happens to this call; counts it. */
  take(call: Call): CallFailure | undefined;
}

interface Waiting<Call extends WireCall> {
  readonly failureRule: FailureRule<Call>;
  after: number;
  times: number;
}

function fits<Call extends WireCall>({ service, action, region, when }: FailureRule<Call>, call: Call): boolean {
  return (
    (service === undefined || service === call.service) &&
    (action === undefined || action === call.action) &&
    (region === undefined || region === call.region) &&
    (when === undefined || when(call))
  );
}

function strikes<Call extends WireCall>(waiting: Waiting<Call>): boolean {
  if (waiting.after > 0) {
    waiting.after -= 1;
    return false;
  }
  waiting.times -= 1;
  return true;
}

export function openFailureRules<Call extends WireCall>(): FailureRules<Call> {
  let all: Waiting<Call>[] = [];
  return {
    add(failureRule) {
      const waiting = { failureRule, after: failureRule.after ?? 0, times: failureRule.times ?? 1 };
      all.push(waiting);
      return () => {
        all = all.filter((one) => one !== waiting);
      };
    },
    clear() {
      all = [];
    },
    take(call) {
      const struck = all.filter(({ failureRule }) => fits(failureRule, call)).find(strikes);
      all = all.filter(({ times }) => times > 0);
      return struck?.failureRule.what;
    },
  };
}

/** What `fetch` rejects with when the other side closes the connection. */
export function brokenConnection(): TypeError {
  const cause = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET', errno: -104, syscall: 'read' });
  return new TypeError('fetch failed', { cause });
}

/** What `fetch` rejects with when a name has no address. */
function noSuchHost(): TypeError {
  const cause = Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND', syscall: 'getaddrinfo' });
  return new TypeError('fetch failed', { cause });
}

/** Rejects when the caller aborts. */
export function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) return reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

/** The first half of an answer; then the connection breaks. */
async function truncated(response: Response): Promise<Response> {
  const content = new Uint8Array(await response.arrayBuffer());
  const pieces = [content.slice(0, content.byteLength >> 1)];
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const piece = pieces.pop();
      if (piece) controller.enqueue(piece);
      else controller.error(brokenConnection());
    },
  });
  const headers = new Headers(response.headers);
  headers.set('transfer-encoding', 'chunked');
  return new Response(body, { status: response.status, headers });
}

/** Carries a call out with that callFailure. */
export async function suffer(
  what: CallFailure,
  { clock, signal, tooMuch }: { clock: Clock; signal: AbortSignal; tooMuch: () => Error },
  carryOut: () => Promise<Response>,
): Promise<Response> {
  switch (what.kind) {
    case 'lost reply':
      await carryOut();
      return Promise.reject(brokenConnection());
    case 'truncated reply':
      return truncated(await carryOut());
    case 'lost request':
      return Promise.reject(brokenConnection());
    case 'no such host':
      return Promise.reject(noSuchHost());
    case 'hang':
      if (what.done) await carryOut();
      return untilAborted(signal);
    case 'slow':
      await clock.sleep(what.ms, signal);
      return signal.aborted ? Promise.reject(signal.reason) : carryOut();
    case 'throttle':
      throw tooMuch();
    case 'error':
      throw refusal(what.code, what.message ?? `${what.code}.`, what.status ?? 400);
    case 'garbage':
      return new Response('<html><body><h1>Bad Gateway</h1></body></html>', {
        status: what.status ?? 502,
        headers: { 'content-type': 'text/html' },
      });
  }
}

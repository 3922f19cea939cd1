import type { Clock } from '#core/clock.ts';
import { refusal } from './refusal.ts';
import type { Service, WireCall } from './wire/read-call.ts';

/** What goes wrong with a call. */
export type Mischance =
  /** Carried out; then the connection breaks before the answer is read. */
  | { readonly kind: 'lost reply' }
  /** Not carried out: the connection breaks before anybody has heard. */
  | { readonly kind: 'lost request' }
  /** Not carried out: nobody has that address, as where a region does not exist. */
  | { readonly kind: 'no such host' }
  /** No answer, ever; `done` says whether it was carried out. */
  | { readonly kind: 'hang'; readonly done?: boolean }
  | { readonly kind: 'slow'; readonly ms: number }
  | { readonly kind: 'throttle' }
  | { readonly kind: 'error'; readonly code: string; readonly message?: string; readonly status?: number }
  /** Not what AWS says: a gateway's page, say. */
  | { readonly kind: 'garbage'; readonly status?: number };

export interface Mishap {
  readonly what: Mischance;
  /** Of all services and actions where not said. */
  readonly service?: Service | undefined;
  readonly action?: string | undefined;
  readonly region?: string | undefined;
  /** How many calls that fit go well first. */
  readonly after?: number | undefined;
  /** How many calls then fail; 1 where not said. */
  readonly times?: number | undefined;
  readonly when?: ((call: WireCall) => boolean) | undefined;
}

export interface Mishaps {
  /** Adds one; the returned function takes it away again. */
  add(mishap: Mishap): () => void;
  clear(): void;
  /** What happens to this call. */
  take(call: WireCall): Mischance | undefined;
}

interface Waiting {
  readonly mishap: Mishap;
  after: number;
  times: number;
}

function fits({ service, action, region, when }: Mishap, call: WireCall): boolean {
  return (
    (service === undefined || service === call.service) &&
    (action === undefined || action === call.action) &&
    (region === undefined || region === call.region) &&
    (when === undefined || when(call))
  );
}

/** Whether this call is one of those; counts it. */
function strikes(waiting: Waiting): boolean {
  if (waiting.after > 0) {
    waiting.after -= 1;
    return false;
  }
  waiting.times -= 1;
  return true;
}

export function openMishaps(): Mishaps {
  let all: Waiting[] = [];
  return {
    add(mishap) {
      const waiting = { mishap, after: mishap.after ?? 0, times: mishap.times ?? 1 };
      all.push(waiting);
      return () => {
        all = all.filter((one) => one !== waiting);
      };
    },
    clear() {
      all = [];
    },
    take(call) {
      const struck = all.filter(({ mishap }) => fits(mishap, call)).find(strikes);
      all = all.filter(({ times }) => times > 0);
      return struck?.mishap.what;
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

/** Ends only when the caller gives up. */
export function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) return reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

/** Lets a mischance happen around a call. */
export async function suffer(
  what: Mischance,
  { clock, signal, tooMuch }: { clock: Clock; signal: AbortSignal; tooMuch: () => Error },
  carryOut: () => Promise<Response>,
): Promise<Response> {
  switch (what.kind) {
    case 'lost reply':
      await carryOut();
      return Promise.reject(brokenConnection());
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

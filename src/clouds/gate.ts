import { type CallBudget, openCallBudget, type Rate } from '#core/call-budget.ts';
import type { Clock } from '#core/clock.ts';
import { Fault, type FaultKind } from '#core/fault.ts';
import type { Log } from '#core/log.ts';
import type { Store } from '#core/store.ts';
import { type ConcurrencyLimit, limitConcurrency } from './concurrency.ts';
import { LEAST_LEASE_MS, withDeadline } from './deadline.ts';

/** One call to an external system. */
export interface GateCall {
  /** What it does, for logs and metrics: `create`, `report`. */
  readonly name: string;
  readonly is: 'read' | 'write';
  /** What shares a rate budget and a credential. */
  readonly account: string;
  /** The owner of the call: a pool or a source. No owner gets the whole concurrency of an account. */
  readonly owner: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** `own`: the kind keeps to the limits itself, because it answers most of these calls from a cache. */
  readonly budget?: 'own' | undefined;
  /** Called right before the call is sent: until then it has had no effect outside. */
  leaving?(): void;
}

/** One call that has ended, for metrics. */
export interface SeenCall {
  readonly account: string;
  readonly call: string;
  readonly durationMs: number;
  readonly fault?: FaultKind | undefined;
}

export interface GateDeps {
  readonly store: Pick<Store, 'durable' | 'leaseLeftMs'>;
  readonly clock: Clock;
  readonly log: Log;
  /** One for each call that left, when it has ended. */
  observe?(seen: SeenCall): void;
}

/** Calls a second, with a burst where the cloud allows one. */
export interface CallLimits {
  readonly read: number | Rate;
  readonly write: number | Rate;
}

/** The only shared to call kinds of any family: bounded concurrency, within the rate budget, after all commits are durable, and only while this process holds the lease. */
export interface Gate {
  call<T>(call: GateCall, run: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /** Registers an open user of that account; of several limits the smallest holds. The returned function unregisters it. */
  enter(account: string, limits?: CallLimits): () => void;
}

const WIDTH_OF_ACCOUNT = 16;
const WIDTH_OF_OWNER = 4;
const PAUSE_WHEN_THROTTLED_MS = 1_000;

interface AccountLimits {
  readonly concurrency: ConcurrencyLimit;
  readonly rates: { read: number; write: number };
  read?: CallBudget;
  write?: CallBudget;
  /** How many open things share it. */
  users: number;
}

export function openGate({ store, clock, log, observe }: GateDeps): Gate {
  const accounts = new Map<string, AccountLimits>();

  function accountOf(account: string): AccountLimits {
    let shared = accounts.get(account);
    if (!shared) {
      const rates = { read: Number.POSITIVE_INFINITY, write: Number.POSITIVE_INFINITY };
      shared = { concurrency: limitConcurrency(WIDTH_OF_ACCOUNT, WIDTH_OF_OWNER), rates, users: 0 };
      accounts.set(account, shared);
    }
    return shared;
  }

  function limit(shared: AccountLimits, is: 'read' | 'write', rate: number | Rate): void {
    const perSecond = typeof rate === 'number' ? rate : rate.perSecond;
    if (perSecond >= shared.rates[is]) return;
    shared.rates[is] = perSecond;
    shared[is] = openCallBudget(clock, rate);
  }

  async function send<T>(
    call: GateCall,
    budget: CallBudget | undefined,
    run: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    await budget?.take(call.signal);
    await store.durable();
    const what = `${call.name} on ${call.account}`;
    if (call.signal.aborted) throw new Fault('unavailable', `${what} was cancelled before it was sent.`);
    // The database fences our writes, but nothing fences an external call: so the lease is checked last.
    if (store.leaseLeftMs() < LEAST_LEASE_MS) {
      throw new Fault('unavailable', `${what} was not sent: this process is about to lose the lease.`);
    }
    call.leaving?.();
    const { signal, timeoutMs } = call;
    const deadline = { what, clock, signal, timeoutMs, leaseLeftMs: () => store.leaseLeftMs() };
    const { account, name, owner } = call;
    const startedMs = clock.monotonic();
    let fault: Fault | undefined;
    try {
      return await withDeadline(deadline, run);
    } catch (thrown) {
      fault = faultOf(thrown);
      throw fault;
    } finally {
      const durationMs = clock.monotonic() - startedMs;
      observe?.({ account, call: name, durationMs, fault: fault?.kind });
      const fields = { account, call: name, owner, durationMs };
      log('debug', 'call ended', fault ? { ...fields, kind: fault.kind, error: fault.message } : fields);
    }
  }

  return {
    async call(call, run) {
      const shared = accountOf(call.account);
      const budget = call.budget === 'own' ? undefined : shared[call.is];
      const go = () => send(call, budget, run);
      try {
        return await (call.is === 'read' ? go() : shared.concurrency.pass(call.owner, go));
      } catch (thrown) {
        const fault = faultOf(thrown);
        if (fault.kind === 'throttled') shared[call.is]?.pause(fault.retryAfterMs ?? PAUSE_WHEN_THROTTLED_MS);
        throw fault;
      } finally {
        if (shared.users === 0 && accounts.get(call.account) === shared && shared.concurrency.isEmpty())
          accounts.delete(call.account);
      }
    },
    enter(account, limits) {
      const shared = accountOf(account);
      shared.users += 1;
      if (limits) {
        limit(shared, 'read', limits.read);
        limit(shared, 'write', limits.write);
      }
      let isIn = true;
      return () => {
        if (!isIn) return;
        isIn = false;
        shared.users -= 1;
        if (shared.users === 0 && accounts.get(account) === shared) accounts.delete(account);
      };
    },
  };
}

// Error codes of Node and undici for an unreachable peer; any other error that is not a Fault is a bug of the kind.
const AWAY = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EPIPE',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_SOCKET',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
]);

/** Any error of a kind as a fault with a remedy. */
export function faultOf(thrown: unknown): Fault {
  if (thrown instanceof Fault) return thrown;
  for (let at: unknown = thrown, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    const { code, name } = at as Error & { code?: unknown };
    if (AWAY.has(String(code)) || name === 'AbortError' || name === 'TimeoutError') {
      return new Fault('unavailable', (thrown as Error).message, { cause: thrown });
    }
  }
  return Fault.from(thrown);
}

import { type Budget, openBudget } from '#core/budget.ts';
import type { Clock } from '#core/clock.ts';
import { Fault, type FaultKind } from '#core/fault.ts';
import type { Log } from '#core/log.ts';
import type { Store } from '#core/store.ts';
import { LEAST_LEASE_MS, withDeadline } from './deadline.ts';
import { type Lane, openLane } from './lane.ts';

export type CallName = 'list' | 'create' | 'delete' | 'suspend' | 'resume' | 'report';

export interface Call {
  readonly name: CallName;
  readonly cloud: string;
  readonly owner: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Called right before it leaves the process: after this the cloud may have heard it. */
  leaving?(): void;
}

/** One call that has ended, for metrics. */
export interface SeenCall {
  readonly cloud: string;
  readonly call: CallName;
  readonly durationMs: number;
  readonly fault?: FaultKind | undefined;
}

export interface CallerDeps {
  readonly store: Pick<Store, 'durable' | 'leaseLeftMs'>;
  readonly clock: Clock;
  readonly log: Log;
  observe?(seen: SeenCall): void;
}

/** The one gate to the clouds: in turn, within budget, durable before it leaves, only while we hold the lease. */
export interface Caller {
  /** Sets the budget of a cloud in calls a second; of several the smallest holds. */
  limit(cloud: string, limits: { readonly read: number; readonly write: number }): void;
  call<T>(call: Call, run: (signal: AbortSignal) => Promise<T>): Promise<T>;
  forget(cloud: string): void;
}

const WIDTH_OF_CLOUD = 16;
const WIDTH_OF_OWNER = 4;
const PAUSE_WHEN_THROTTLED_MS = 1_000;

interface Gate {
  readonly lane: Lane;
  readonly rates: { read: number; write: number };
  read?: Budget;
  write?: Budget;
}

export function openCaller({ store, clock, log, observe }: CallerDeps): Caller {
  const gates = new Map<string, Gate>();

  function gateOf(cloud: string): Gate {
    let gate = gates.get(cloud);
    if (!gate) {
      const unlimited = { read: Number.POSITIVE_INFINITY, write: Number.POSITIVE_INFINITY };
      gate = { lane: openLane(WIDTH_OF_CLOUD, WIDTH_OF_OWNER), rates: unlimited };
      gates.set(cloud, gate);
    }
    return gate;
  }

  async function leave<T>(
    call: Call,
    budget: Budget | undefined,
    run: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    await budget?.take(call.signal);
    await store.durable();
    const what = `${call.name} on ${call.cloud}`;
    if (call.signal.aborted) throw new Fault('unavailable', `${what} was given up before it left.`);
    // The database fences our writes, but nothing fences a call to a cloud: so the lease is looked at last of all.
    if (store.leaseLeftMs() < LEAST_LEASE_MS) {
      throw new Fault('unavailable', `${what} did not leave: this process may soon not be the holder any more.`);
    }
    call.leaving?.();
    const { signal, timeoutMs } = call;
    const deadline = { what, clock, signal, timeoutMs, leaseLeftMs: () => store.leaseLeftMs() };
    return observed(call, () => withDeadline(deadline, run));
  }

  async function observed<T>(call: Call, run: () => Promise<T>): Promise<T> {
    const { cloud, name } = call;
    const startedMs = clock.monotonic();
    let fault: Fault | undefined;
    try {
      return await run();
    } catch (thrown) {
      fault = faultOf(thrown);
      throw fault;
    } finally {
      const durationMs = clock.monotonic() - startedMs;
      observe?.({ cloud, call: name, durationMs, fault: fault?.kind });
      const fields = { cloud, call: name, owner: call.owner, durationMs };
      log('debug', 'cloud called', fault ? { ...fields, kind: fault.kind, error: fault.message } : fields);
    }
  }

  return {
    limit(cloud, { read, write }) {
      const gate = gateOf(cloud);
      if (read < gate.rates.read) {
        gate.rates.read = read;
        gate.read = openBudget(clock, read);
      }
      if (write < gate.rates.write) {
        gate.rates.write = write;
        gate.write = openBudget(clock, write);
      }
    },
    async call(call, run) {
      const gate = gateOf(call.cloud);
      const budget = call.name === 'list' ? gate.read : gate.write;
      const go = () => leave(call, budget, run);
      try {
        return await (call.name === 'list' ? go() : gate.lane.pass(call.owner, go));
      } catch (thrown) {
        const fault = faultOf(thrown);
        if (fault.kind === 'throttled') budget?.pause(fault.retryAfterMs ?? PAUSE_WHEN_THROTTLED_MS);
        throw fault;
      }
    },
    forget: (cloud) => void gates.delete(cloud),
  };
}

// What Node and undici say when the other side is away; anything else that is not a Fault is a bug of the kind.
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

/** Whatever a kind threw, as a fault that says what to do. */
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

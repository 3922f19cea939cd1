import type { Clock } from '#core/clock.ts';
import { Fault, type FaultKind } from '#core/fault.ts';

const TRIES = 4;
const FIRST_WAIT_MS = 500;
const PASSING: ReadonlySet<FaultKind> = new Set(['throttled', 'unavailable']);

/** Repeats a reading call that fails for a moment; as long as the answer says, else with growing waits. */
export async function retried<T>(clock: Clock, signal: AbortSignal, run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run();
    } catch (thrown) {
      const fault = Fault.from(thrown);
      if (attempt === TRIES || signal.aborted || !PASSING.has(fault.kind)) throw fault;
      await clock.sleep(fault.retryAfterMs ?? FIRST_WAIT_MS * 2 ** (attempt - 1), signal);
    }
  }
}

/** Reads page after page until no token is left; an empty page with a token is not the end. Throws rather than ending early. */
export async function inPages(
  clock: Clock,
  signal: AbortSignal,
  read: (token: string | undefined) => Promise<string | undefined>,
): Promise<void> {
  let token: string | undefined;
  do {
    if (signal.aborted) throw new Fault('unavailable', 'The listing was cancelled.');
    const at = token;
    token = (await retried(clock, signal, () => read(at))) || undefined;
    if (token !== undefined && token === at)
      throw new Fault('unavailable', 'A listing repeats a page token: it would never end.');
  } while (token !== undefined);
}

export interface OperationOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** For messages: `The creation of m-1`. */
  readonly what: string;
  /** Between two looks, where the cloud does not ask for another wait. */
  readonly everyMs?: number;
  readonly withinMs: number;
}

/** Where a long-running operation stands; a failed one is thrown as a fault. */
export type Progress<T> = { readonly done: T } | { readonly retryAfterMs?: number | undefined };

const LOOK_EVERY_MS = 2_000;

/** Looks at a long-running operation until it is done; what becomes of one that takes too long is unknown. */
export async function finished<T>(options: OperationOptions, look: () => Promise<Progress<T>>): Promise<T> {
  const { clock, signal, what, everyMs = LOOK_EVERY_MS } = options;
  const endMs = clock.monotonic() + options.withinMs;
  for (;;) {
    const progress = await retried(clock, signal, look);
    if ('done' in progress) return progress.done;
    const waitMs = progress.retryAfterMs ?? everyMs;
    if (clock.monotonic() + waitMs > endMs)
      throw new Fault('unavailable', `${what} is not done after ${options.withinMs / 1_000} s.`);
    await clock.sleep(waitMs, signal);
    if (signal.aborted) throw new Fault('unavailable', `${what} was cancelled.`);
  }
}

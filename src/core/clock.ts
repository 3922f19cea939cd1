export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** The only way this program learns the time or waits for it. */
export interface Clock {
  /** Milliseconds since 1970; may jump when someone sets the machine's clock. */
  now(): number;
  /** Milliseconds that only ever grow; for measuring spans, never for dates. */
  monotonic(): number;
  /** Resolves after `ms`, or at once when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Rings once after `ms`; the returned function cancels it. */
  alarm(ms: number, ring: () => void): () => void;
  /** Runs after the current turn, so that waiting events get their chance first. */
  soon(run: () => void): void;
}

// setTimeout takes a signed 32-bit number; anything longer would ring at once.
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

function alarm(ms: number, ring: () => void): () => void {
  if (ms > LONGEST_TIMEOUT_MS) {
    let cancelRest = (): void => {};
    const cancelFirst = alarm(LONGEST_TIMEOUT_MS, () => {
      cancelRest = alarm(ms - LONGEST_TIMEOUT_MS, ring);
    });
    return () => {
      cancelFirst();
      cancelRest();
    };
  }
  const timer = setTimeout(ring, Math.max(0, ms));
  return () => clearTimeout(timer);
}

/** Waits on any clock by one alarm; shared by all clocks so that abort behaves alike. */
export function sleepOn(clock: Pick<Clock, 'alarm'>, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const wake = (): void => {
      cancel();
      signal?.removeEventListener('abort', wake);
      resolve();
    };
    const cancel = clock.alarm(ms, wake);
    signal?.addEventListener('abort', wake, { once: true });
  });
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) => sleepOn(systemClock, ms, signal),
  alarm,
  soon: (run) => void setImmediate(run),
};

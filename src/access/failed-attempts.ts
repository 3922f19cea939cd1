import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';

const MOST_A_MINUTE = 20;
const WINDOW_MS = 60_000;
const MOST_ADDRESSES = 10_000;

/** Counts refused credentials by address: tokens over HTTP and gRPC, and codes of login links. Good credentials are never delayed, so no client can lock others out. */
export interface FailedAttempts {
  /** Throws `throttled` instead, once there were too many within a minute. */
  refuse(from: string, fault: Fault): never;
}

export function countFailedAttempts(clock: Clock): FailedAttempts {
  const windows = new Map<string, { readonly sinceMs: number; count: number }>();
  return {
    refuse(from, fault) {
      const nowMs = clock.monotonic();
      const open = windows.get(from);
      const isNew = !open || nowMs - open.sinceMs >= WINDOW_MS;
      const window = isNew ? { sinceMs: nowMs, count: 0 } : open;
      window.count += 1;
      windows.delete(from);
      windows.set(from, window);
      const [oldest] = windows.keys();
      if (windows.size > MOST_ADDRESSES && oldest !== undefined) windows.delete(oldest);
      if (window.count <= MOST_A_MINUTE) throw fault;
      const retryAfterMs = window.sinceMs + WINDOW_MS - nowMs;
      throw new Fault('throttled', 'Too many invalid tokens or login codes from this address.', {
        retryAfterMs,
        remedy: 'Correct the token, then wait a minute.',
      });
    },
  };
}

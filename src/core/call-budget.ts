import type { Clock } from './clock.ts';

/** How often a cloud may be called; waits are served in the order of asking. */
export interface CallBudget {
  /** Resolves when the next call may leave, or at once when the signal aborts; `weight` counts as that many calls. */
  take(signal: AbortSignal, weight?: number): Promise<void>;
  /** How many calls could leave this moment without waiting. */
  room(): number;
  /** Returns an unused call: the cloud did not count it. */
  giveBack(weight: number): void;
  /** The cloud throttled us: no call is sent for this time. */
  pause(ms: number): void;
}

export interface Rate {
  readonly perSecond: number;
  /** How many may leave at once after a quiet time. */
  readonly burst: number;
}

/** Lets `perSecond` calls a second through, and after a quiet time as many at once as `burst` says: one second's worth where only a number is given. */
export function openCallBudget(clock: Clock, rate: number | Rate): CallBudget {
  const { perSecond, burst } = typeof rate === 'number' ? { perSecond: rate, burst: rate } : rate;
  const spacingMs = 1_000 / perSecond;
  const burstMs = Math.max(0, (burst - 1) * spacingMs);
  // Each call books the next place in time; after a quiet time places in the past are free.
  let nextMs = Number.NEGATIVE_INFINITY;
  let pausedUntilMs = Number.NEGATIVE_INFINITY;
  const placeAt = (nowMs: number): number => Math.max(nextMs, nowMs - burstMs);

  return {
    async take(signal, weight = 1) {
      const nowMs = clock.monotonic();
      const placeMs = placeAt(nowMs);
      nextMs = placeMs + weight * spacingMs;
      const waitMs = Math.max(nextMs - spacingMs, pausedUntilMs) - nowMs;
      if (waitMs > 0) await clock.sleep(waitMs, signal);
    },
    room() {
      const nowMs = clock.monotonic();
      if (nowMs < pausedUntilMs) return 0;
      return Math.max(0, Math.floor((nowMs - placeAt(nowMs)) / spacingMs + 1e-9) + 1);
    },
    giveBack(weight) {
      nextMs -= weight * spacingMs;
    },
    pause(ms) {
      pausedUntilMs = Math.max(pausedUntilMs, clock.monotonic() + ms);
      nextMs = Math.max(nextMs, pausedUntilMs);
    },
  };
}

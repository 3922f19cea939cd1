import type { Clock } from './clock.ts';

/** How often a cloud may be called; waits are served in the order of asking. */
export interface Budget {
  /** Resolves when the next call may leave, or at once when the signal aborts. */
  take(signal: AbortSignal): Promise<void>;
  /** The cloud said that it was too much: nothing leaves before this time has passed. */
  pause(ms: number): void;
}

/** Lets `perSecond` calls a second through, and as many at once after a quiet second. */
export function openBudget(clock: Clock, perSecond: number): Budget {
  const spacingMs = 1_000 / perSecond;
  const burstMs = Math.max(0, 1_000 - spacingMs);
  // Each call books the next place in time; whoever was quiet may book places that lie in the past.
  let nextMs = Number.NEGATIVE_INFINITY;
  let pausedUntilMs = Number.NEGATIVE_INFINITY;

  return {
    async take(signal) {
      const nowMs = clock.monotonic();
      const placeMs = Math.max(nextMs, nowMs - burstMs);
      nextMs = placeMs + spacingMs;
      const waitMs = Math.max(placeMs, pausedUntilMs) - nowMs;
      if (waitMs > 0) await clock.sleep(waitMs, signal);
    },
    pause(ms) {
      pausedUntilMs = Math.max(pausedUntilMs, clock.monotonic() + ms);
      nextMs = Math.max(nextMs, pausedUntilMs);
    },
  };
}

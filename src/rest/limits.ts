import { openCallBudget, type Rate } from '#core/call-budget.ts';
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';

/** A request limit of an account as a token bucket: burst + rate × window requests in any window. */
export interface RequestLimit<Request> extends Rate {
  /** Whether a request counts here; absent: each does. */
  counts?(request: Request): boolean;
}

/** Sends a request as soon as every limit that it counts for allows it. */
export type WithinLimits<Request> = <T>(request: Request, signal: AbortSignal, send: () => Promise<T>) => Promise<T>;

const PAUSE_MS = 5_000;

/** The limits of one account; `factor` is how many times those it has. A throttled request pauses all that count with it. */
export function openLimits<Request>(
  clock: Clock,
  limits: readonly RequestLimit<Request>[],
  factor = 1,
): WithinLimits<Request> {
  const budgets = limits.map(({ counts = () => true, burst, perSecond }) => {
    const rate = { burst: Math.max(1, burst * factor), perSecond: perSecond * factor };
    return { counts, budget: openCallBudget(clock, rate) };
  });
  return async (request, signal, send) => {
    const counting = budgets.filter(({ counts }) => counts(request));
    for (const { budget } of counting) await budget.take(signal);
    if (signal.aborted) throw new Fault('unavailable', 'The request was cancelled before it was sent.');
    return send().catch((thrown) => {
      const fault = Fault.from(thrown);
      if (fault.kind === 'throttled') for (const { budget } of counting) budget.pause(fault.retryAfterMs ?? PAUSE_MS);
      throw fault;
    });
  };
}

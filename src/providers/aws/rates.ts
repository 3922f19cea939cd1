import { type Budget, openBudget, type Rate } from '#core/budget.ts';
import type { Clock } from '#core/clock.ts';

/** How often one action may be asked, and for how many machines. */
interface ActionRate {
  readonly requests: Rate;
  readonly machines?: Rate;
}

// Amazon EC2 Developer Guide, "Request throttling for the Amazon EC2 API": request and resource token buckets of an
// account in a region, each action on its own. What is not listed there by name is in one of the two general classes.
const READING: ActionRate = { requests: { burst: 100, perSecond: 20 } };
const RATES: Readonly<Record<string, ActionRate>> = {
  RunInstances: { requests: { burst: 5, perSecond: 2 }, machines: { burst: 1_000, perSecond: 2 } },
  StartInstances: { requests: { burst: 5, perSecond: 2 }, machines: { burst: 1_000, perSecond: 2 } },
  StopInstances: { requests: { burst: 50, perSecond: 5 }, machines: { burst: 1_000, perSecond: 20 } },
  TerminateInstances: { requests: { burst: 100, perSecond: 5 }, machines: { burst: 1_000, perSecond: 20 } },
};

// AWS General Reference, "Systems Manager endpoints and quotas": 40 a second by default for all that reads parameters.
const PARAMETERS = 'parameters';
const PARAMETER_RATE: ActionRate = { requests: { burst: 40, perSecond: 40 } };
const isParameters = (action: string): boolean => action.startsWith('GetParameter');

/** The most machines that one call may name: more than the bucket holds could never leave. */
export const MOST_AT_ONCE = 1_000;

const times = ({ perSecond, burst }: Rate, factor: number): Rate => ({
  perSecond: perSecond * factor,
  burst: Math.max(1, Math.floor(burst * factor)),
});

/** The request limits of one account in one region, shared by all that asks there. */
export interface Rates {
  /** Resolves when the call may leave; `machines` is how many it is about. */
  take(action: string, machines: number, signal: AbortSignal): Promise<void>;
  /** How many machines a call could be about right now. */
  room(action: string): number;
  /** AWS said that it was too much. */
  pause(action: string): void;
}

const PAUSE_MS = 1_000;

/** `factor` is how many times the published limits this account has. */
export function openRates(clock: Clock, factor = 1): Rates {
  const opened = new Map<string, { readonly requests: Budget; readonly machines: Budget | undefined }>();

  function budgetsOf(action: string) {
    const key = isParameters(action) ? PARAMETERS : action;
    const rate = key === PARAMETERS ? PARAMETER_RATE : (RATES[action] ?? READING);
    const budgets = opened.get(key) ?? {
      requests: openBudget(clock, times(rate.requests, factor)),
      machines: rate.machines && openBudget(clock, times(rate.machines, factor)),
    };
    opened.set(key, budgets);
    return budgets;
  }

  return {
    async take(action, machines, signal) {
      const budgets = budgetsOf(action);
      if (machines > 0) await budgets.machines?.take(signal, machines);
      await budgets.requests.take(signal);
    },
    room: (action) => budgetsOf(action).machines?.room() ?? Number.POSITIVE_INFINITY,
    pause(action) {
      const { requests, machines } = budgetsOf(action);
      requests.pause(PAUSE_MS);
      machines?.pause(PAUSE_MS);
    },
  };
}

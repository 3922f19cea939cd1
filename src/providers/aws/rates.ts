import { type CallBudget, openCallBudget, type Rate } from '#core/call-budget.ts';
import type { Clock } from '#core/clock.ts';

/** How often one action may be asked, and for how many machines, as token buckets. */
export interface ActionRate {
  /** Actions of the same name here share one bucket; absent: the action's own. */
  readonly bucket?: string;
  readonly requests: Rate;
  readonly machines?: Rate;
}

const times = ({ perSecond, burst }: Rate, factor: number): Rate => ({
  perSecond: perSecond * factor,
  burst: Math.max(1, Math.floor(burst * factor)),
});

/** One place stays free: of two requests on their way the second may be the faster. */
const withSpare = ({ perSecond, burst }: Rate): Rate => ({ perSecond, burst: Math.max(1, burst - 1) });

interface Budgets {
  readonly requests: CallBudget;
  readonly machines: CallBudget | undefined;
  /** The most machines to ask for since one call was too much; each that passes doubles it. */
  most: number;
}

/** The request limits of one account in one region, shared by all that asks there. */
export interface Rates {
  /** Resolves when the call may leave; `machines` is how many it is about. */
  take(action: string, machines: number, signal: AbortSignal): Promise<void>;
  /** How many machines a call could be about right now. */
  room(action: string): number;
  /** The cloud carried it out. */
  granted(action: string): void;
  /** The cloud said that it was too much. */
  refused(action: string, machines: number): void;
}

const PAUSE_MS = 1_000;

/** `factor` is how many times the published limits this account has. */
export function openRates(clock: Clock, rateOf: (action: string) => ActionRate, factor = 1): Rates {
  const opened = new Map<string, Budgets>();

  function budgetsOf(action: string): Budgets {
    const { bucket = action, requests, machines } = rateOf(action);
    const budgets = opened.get(bucket) ?? {
      requests: openCallBudget(clock, withSpare(times(requests, factor))),
      machines: machines && openCallBudget(clock, times(machines, factor)),
      most: Number.POSITIVE_INFINITY,
    };
    opened.set(bucket, budgets);
    return budgets;
  }

  return {
    async take(action, machines, signal) {
      const budgets = budgetsOf(action);
      if (machines > 0) await budgets.machines?.take(signal, machines);
      await budgets.requests.take(signal);
    },
    room(action) {
      const { machines, most } = budgetsOf(action);
      return Math.min(machines?.room() ?? Number.POSITIVE_INFINITY, most);
    },
    granted(action) {
      const budgets = budgetsOf(action);
      budgets.most *= 2;
    },
    // Clouds do not say whether it was one request too many or too many machines.
    refused(action, machines) {
      const budgets = budgetsOf(action);
      budgets.requests.pause(PAUSE_MS);
      if (machines === 0) return;
      budgets.machines?.giveBack(machines);
      budgets.most = Math.max(1, Math.floor(Math.min(machines, budgets.most) / 2));
    },
  };
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

// Amazon ECS Developer Guide, "Request throttling for the Amazon ECS API": actions of a class share a bucket. Fargate has a
// lower limit for RunTask than ECS: 20 a second, and no burst.
const ECS: Readonly<Record<string, ActionRate>> = {
  RegisterTaskDefinition: { bucket: 'definition modify', requests: { burst: 20, perSecond: 1 } },
  DeregisterTaskDefinition: { bucket: 'definition modify', requests: { burst: 20, perSecond: 1 } },
  DeleteTaskDefinitions: { requests: { burst: 5, perSecond: 1 } },
  ListTaskDefinitions: { bucket: 'definition read', requests: { burst: 50, perSecond: 20 } },
  ListTaskDefinitionFamilies: { bucket: 'definition read', requests: { burst: 50, perSecond: 20 } },
  RunTask: { requests: { burst: 20, perSecond: 20 } },
  // RunTask takes from the same bucket of 100 and 40 a second.
  StopTask: { requests: { burst: 80, perSecond: 20 } },
  ListTasks: { bucket: 'task read', requests: { burst: 100, perSecond: 20 } },
  DescribeTasks: { bucket: 'task read', requests: { burst: 100, perSecond: 20 } },
};

// AWS General Reference, "Systems Manager endpoints and quotas": 40 a second by default for all that reads parameters.
const PARAMETERS: ActionRate = { bucket: 'parameters', requests: { burst: 40, perSecond: 40 } };

const rateOf = (action: string): ActionRate =>
  action.startsWith('GetParameter') ? PARAMETERS : (RATES[action] ?? ECS[action] ?? READING);

/** The most machines that one call may name: more than the bucket holds could never leave. */
export const MOST_AT_ONCE = 1_000;

/** The limits of one account in one region; `factor` is how many times the published ones it has. */
export const openAwsRates = (clock: Clock, factor = 1): Rates => openRates(clock, rateOf, factor);

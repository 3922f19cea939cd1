import type { Clock } from '#core/clock.ts';
import { type ActionRate, openRates, type Rates } from './action-rates.ts';

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
const PARAMETERS: ActionRate = { bucket: 'parameters', requests: { burst: 40, perSecond: 40 } };

const rateOf = (action: string): ActionRate =>
  action.startsWith('GetParameter') ? PARAMETERS : (RATES[action] ?? READING);

/** The most machines that one call may name: more than the bucket holds could never leave. */
export const MOST_AT_ONCE = 1_000;

/** The limits of one account in one region; `factor` is how many times the published ones it has. */
export const openAwsRates = (clock: Clock, factor = 1): Rates => openRates(clock, rateOf, factor);

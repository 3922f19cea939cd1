// Policies of Muster and of its peers in the same model, over the same demand.
import { MINUTE_MS } from '#core/clock.ts';
import type { Scaling } from '#core/pool.ts';
import { modelPool, type Planner } from '../../src/foresight/model.ts';
import { awsForecast } from './aws-forecast.ts';
import type { NamedDemand } from './demands.ts';
import { gitlab } from './gitlab.ts';
import { karpenter } from './karpenter.ts';

export interface NamedPolicy {
  readonly name: string;
  readonly idle?: number;
  /** Absent: that of Muster. A peer that remembers begins afresh with each run. */
  readonly planner?: () => Planner;
}

export interface Outcome {
  readonly policy: string;
  readonly dollars: number;
  readonly paidPerUsed: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly launches: number;
}

const STATIC_IDLE = [0, 1, 2, 3, 5];

export const POLICIES: readonly NamedPolicy[] = [
  ...STATIC_IDLE.map((idle) => ({ name: `Muster, ${idle} idle`, idle })),
  { name: 'GitLab, idle_count 2', planner: () => gitlab({ idleCount: 2, scaleFactor: 0 }) },
  { name: 'GitLab, idle_count 1, scale_factor 0.2', planner: () => gitlab({ idleCount: 1, scaleFactor: 0.2 }) },
  { name: 'Karpenter, empty for 30 s', planner: karpenter },
  { name: 'AWS forecast, 5 min lead', planner: awsForecast },
];

const BOOT_MS = 2 * MINUTE_MS;
const DECAY_MS = 5 * MINUTE_MS;
const PRICE = 1;
// So many may idle beyond those that are wanted, each for the decay.
const ROOM = 4;

function scalingOf(idle: number): Scaling {
  return {
    ...{ mode: 'standard', minAgents: 0, maxAgents: 100_000, minIdleSlots: idle, maxIdleSlots: idle + ROOM },
    ...{ idleDecayMs: DECAY_MS, syncEveryMs: MINUTE_MS, killUnknownAfterMs: 0, slotsPerAgent: 1 },
    ...{ retryDelayMs: MINUTE_MS, errorResetAfterMs: 90_000, bootTimeoutMs: 15 * MINUTE_MS },
  };
}

/** One slot a machine, two minutes to boot, a dollar an hour; a twentieth of all launches is refused by the first offer. */
export function runPolicy({ name, idle = 0, planner }: NamedPolicy, demand: NamedDemand): Outcome {
  const { dollars, machineHours, busyHours, waits, launches } = modelPool({
    scaling: scalingOf(idle),
    offers: [
      { id: 'first', pricePerHour: PRICE },
      { id: 'second', pricePerHour: 1.2 * PRICE },
    ],
    supply: {
      first: { readyAfterMs: [BOOT_MS], refusals: { share: 0.05, afterMs: 2_000 } },
      second: { readyAfterMs: [BOOT_MS] },
    },
    demand: demand.arrivals,
    fromMs: demand.fromMs,
    untilMs: demand.untilMs,
    seed: 1,
    mostEvents: Number.POSITIVE_INFINITY,
    planner: planner?.(),
  });
  const { p50Ms, p95Ms } = waits;
  return { policy: name, dollars, paidPerUsed: machineHours / busyHours, p50Ms, p95Ms, launches };
}

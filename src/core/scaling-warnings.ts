import { formatDuration } from './duration.ts';
import type { PoolSpec, Scaling } from './pool.ts';
import { limitsIn, scheduleName } from './schedule.ts';

/** A setting of `auto_scaler` that costs money or has no effect, though it is allowed. */
export interface ScalingWarning {
  readonly key:
    | 'maxAgents'
    | 'minAgents'
    | 'minIdleAgents'
    | 'maxIdleAgents'
    | 'idleDecay'
    | 'maxPricePerHour'
    | 'schedules'
    | 'waitTarget';
  /** The window of the schedules. */
  readonly at?: number | undefined;
  /** The key as users write it. */
  readonly name: string;
  readonly message: string;
}

/** Fewer idle slots than this above `min_idle_agents` are less than a worker, so none can stay idle there. */
const leastUsefulMaxIdle = ({ minIdleSlots, slotsPerAgent }: Scaling): number => minIdleSlots + slotsPerAgent;

/** A pool whose size never changes launches and removes nothing. */
const isFixedSize = ({ mode, minAgents, maxAgents, minIdleSlots, slotsPerAgent }: Scaling): boolean =>
  mode === 'batch' || minAgents >= maxAgents || minIdleSlots >= maxAgents * slotsPerAgent;

const LIMITS = [
  ['maxAgents', 'max_agents', ({ maxAgents }: Scaling) => maxAgents],
  ['minAgents', 'min_agents', ({ minAgents }: Scaling) => minAgents],
  ['minIdleAgents', 'min_idle_agents', ({ minIdleSlots }: Scaling) => minIdleSlots],
  ['maxPricePerHour', 'max_price_per_hour', ({ maxPricePerHour }: Scaling) => maxPricePerHour ?? 0],
] as const;

type Limited = Pick<PoolSpec, 'offers' | 'scaling' | 'schedules' | 'waitTarget'>;

/** How many machines a pool with these limits launches for each session. */
export type ExpectedLaunches = (scaling: Scaling) => number;

/** What of its limits would surprise the one who pays for the pool. */
export function scalingWarnings(spec: Limited, expected?: ExpectedLaunches): readonly ScalingWarning[] {
  const always = limitWarnings(spec, expected);
  if (spec.offers.length === 0) return always;
  return [...always, ...windowWarnings(spec, always, expected), ...targetWarnings(spec)];
}

/** Windows that change nothing, and those that would launch and remove a worker for each session. */
function windowWarnings(
  { offers, scaling, schedules = [] }: Limited,
  always: readonly ScalingWarning[],
  expected: ExpectedLaunches | undefined,
): readonly ScalingWarning[] {
  return schedules.flatMap((window, at): ScalingWarning[] => {
    const [now, about] = [limitsIn(scaling, window), { key: 'schedules', name: `schedules[${at}]`, at } as const];
    if (now === scaling) {
      const message = `(${scheduleName(window)}) has no effect: its limits are those of the pool; change or remove it`;
      return [{ ...about, message }];
    }
    const churn = limitWarnings({ offers, scaling: now }, expected).find(({ key }) => key === 'minIdleAgents');
    const isNew = churn && !always.some(({ message }) => message === churn.message);
    return isNew ? [{ ...about, message: `(${scheduleName(window)}) ${churn.message}` }] : [];
  });
}

function targetWarnings({ scaling, waitTarget }: Limited): readonly ScalingWarning[] {
  if (!waitTarget || scaling.idleDecayMs > 0) return [];
  const message = 'needs idle_decay: with 0s each session launches a worker, and its end removes one; set it, like 5m';
  return [{ key: 'waitTarget', name: 'wait_target', message }];
}

function limitWarnings(
  { offers, scaling }: Pick<PoolSpec, 'offers' | 'scaling'>,
  expected: ExpectedLaunches | undefined,
): readonly ScalingWarning[] {
  if (offers.length === 0) {
    const set = LIMITS.find(([, , limitOf]) => limitOf(scaling) > 0);
    if (!set) return [];
    const message = 'has no effect: the pool has no backend, so nothing launches workers; add `backend` or remove it';
    return [{ key: set[0], name: set[1], message }];
  }
  if (isFixedSize(scaling)) return [];
  const { minIdleSlots, maxIdleSlots, idleDecayMs } = scaling;
  const least = leastUsefulMaxIdle(scaling);
  const hasRoom = maxIdleSlots >= least;
  if (minIdleSlots > 0 && !hasRoom) {
    const expectedText = expected ? ` (the model expects ${expected(scaling).toFixed(1)} launches a session)` : '';
    const message = `keeps ${minIdleSlots} idle, and max_idle_agents ${maxIdleSlots} allows no further worker: each session launches a worker, and its end removes one at once${expectedText}; set max_idle_agents to ${least} or more, and idle_decay`;
    return [{ key: 'minIdleAgents', name: 'min_idle_agents', message }];
  }
  if (hasRoom && idleDecayMs === 0) {
    const message = `has no effect with idle_decay 0s: workers above min_idle_agents ${minIdleSlots} are removed as soon as they are idle; set idle_decay, like 5m`;
    return [{ key: 'maxIdleAgents', name: 'max_idle_agents', message }];
  }
  if (!hasRoom && idleDecayMs > 0) {
    const message = `${formatDuration(idleDecayMs)} has no effect: with max_idle_agents ${maxIdleSlots} workers are removed as soon as they are idle; set max_idle_agents to ${least} or more, or idle_decay to 0s`;
    return [{ key: 'idleDecay', name: 'idle_decay', message }];
  }
  return [];
}

// The limits of a pool at this moment: those of its definition, or of a window of its schedules.
import { HOUR_MS } from '#core/clock.ts';
import type { Pool } from '#core/pool.ts';
import { nextEdge, type ScalingNow, scalingAt } from '#core/schedule.ts';
import type { WorkersContext } from './context.ts';
import type { PoolMemory } from './pool-memory.ts';
import { leadMs } from './ready-time.ts';
import { scalingOf } from './reported-slots.ts';

type Moment = Pick<WorkersContext, 'clock'>;

export function limitsNow({ clock }: Moment, pool: Pool, memory: Readonly<PoolMemory>): ScalingNow {
  const scaling = scalingOf(pool, memory);
  const { schedules } = pool.spec;
  if (!schedules) return { scaling };
  return scalingAt({ scaling, schedules }, clock.now(), leadMs(memory));
}

// The wall clock may be set: an alarm that runs on the other one must not be late for ever.
const LONGEST_WAIT_MS = HOUR_MS;

/** When a pass must look at them again. */
export function limitsChangeAfterMs({ clock }: Moment, { spec }: Pool, memory: Readonly<PoolMemory>): number {
  if (!spec.schedules) return Number.POSITIVE_INFINITY;
  return Math.min(LONGEST_WAIT_MS, nextEdge(spec, clock.now(), leadMs(memory)) - clock.now());
}

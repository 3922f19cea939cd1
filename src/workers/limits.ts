// The limits of a pool at this moment: those of its definition, of a window of its schedules, or of its wait target.
import { HOUR_MS } from '#core/clock.ts';
import type { Pool } from '#core/pool.ts';
import { nextEdge, type ScalingNow, scalingAt } from '#core/schedule.ts';
import { withChosenIdle } from '#core/wait-target.ts';
import type { WorkersContext } from './context.ts';
import type { PoolMemory } from './pool-memory.ts';
import { leadMs } from './ready-time.ts';
import { scalingOf } from './reported-slots.ts';

type Moment = Pick<WorkersContext, 'clock'>;

export function limitsNow(
  { clock, store }: Moment & Pick<WorkersContext, 'store'>,
  pool: Pool,
  memory: Readonly<PoolMemory>,
): ScalingNow {
  const scaling = scalingOf(pool, memory);
  const { schedules, waitTarget } = pool.spec;
  const now = schedules ? scalingAt({ scaling, schedules }, clock.now(), leadMs(memory)) : { scaling };
  return waitTarget ? withChosenIdle(now, waitTarget, store.view.chosenIdle.get(pool.id)) : now;
}

// The wall clock may be set: an alarm that runs on the other one must not be late for ever.
const LONGEST_WAIT_MS = HOUR_MS;

/** When a pass must look at them again. */
export function limitsChangeAfterMs({ clock }: Moment, { spec }: Pool, memory: Readonly<PoolMemory>): number {
  if (!spec.schedules) return Number.POSITIVE_INFINITY;
  return Math.min(LONGEST_WAIT_MS, nextEdge(spec, clock.now(), leadMs(memory)) - clock.now());
}

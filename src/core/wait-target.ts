import type { Scaling, WaitTarget } from './pool.ts';
import { type ScalingNow, withLimits } from './schedule.ts';
import { type Row, table } from './table.ts';

/** How many slots the server keeps idle for the wait target of a pool. Its id is that of the pool. */
export interface ChosenIdle extends Row {
  readonly idleSlots: number;
  /** Since when. */
  readonly at: number;
  /** What it was chosen by, as decisions name it. */
  readonly why: string;
}

export const waitTargetTables = {
  chosenIdle: table<ChosenIdle>()({ writer: 'foresight', indexes: {} }),
} as const;

interface Known {
  readonly target: WaitTarget;
  readonly chosen: ChosenIdle;
  readonly now: ScalingNow;
}

// A pool asks at every pass, and the answer changes a few times an hour. The same answer is the same object.
const known = new WeakMap<Scaling, Known>();

/**
 * The limits with the idle slots of a wait target; a window that keeps more of them goes first. One worker more may idle,
 * so that not every session launches a worker and its end removes one.
 */
export function withChosenIdle(
  before: ScalingNow,
  target: WaitTarget | undefined,
  chosen: ChosenIdle | undefined,
): ScalingNow {
  if (!target || !chosen) return before;
  const { scaling } = before;
  const minIdleSlots = Math.min(chosen.idleSlots, target.maxIdleSlots);
  if (minIdleSlots <= scaling.minIdleSlots) return before;
  const same = known.get(scaling);
  if (same?.target === target && same.chosen === chosen) return same.now;
  const maxIdleSlots = Math.max(scaling.maxIdleSlots, minIdleSlots + scaling.slotsPerAgent);
  const setBy = { ...before.setBy, minIdleSlots: chosen.why };
  const now = {
    scaling: withLimits(scaling, { minIdleSlots, maxIdleSlots }),
    setBy: maxIdleSlots === scaling.maxIdleSlots ? setBy : { ...setBy, maxIdleSlots: chosen.why },
  };
  known.set(scaling, { target, chosen, now });
  return now;
}

import { describe, expect, it } from 'vitest';
import { someScaling } from './testing/pool.ts';
import { type ChosenIdle, withChosenIdle } from './wait-target.ts';

const target = { p95Ms: 5_000, maxIdleSlots: 20 };
const chosen = (idleSlots: number): ChosenIdle => ({ id: 'p', idleSlots, at: 0, why: 'wait_target p95 5s' });

describe('the limits of a pool with a wait target', () => {
  it('are its own until something was chosen, and without a target', () => {
    const now = { scaling: someScaling() };

    expect(withChosenIdle(now, target, undefined)).toBe(now);
    expect(withChosenIdle(now, undefined, chosen(3))).toBe(now);
    expect(withChosenIdle(now, target, chosen(0))).toBe(now);
  });

  it('keep as many slots idle as were chosen, with room for one worker more, and say what set them', () => {
    const now = withChosenIdle({ scaling: someScaling({ slotsPerAgent: 2 }) }, target, chosen(3));

    expect(now).toMatchObject({
      scaling: { minIdleSlots: 3, maxIdleSlots: 5 },
      setBy: { minIdleSlots: 'wait_target p95 5s', maxIdleSlots: 'wait_target p95 5s' },
    });
  });

  it('leave max_idle_agents where it has that room', () => {
    const { scaling, setBy } = withChosenIdle({ scaling: someScaling({ maxIdleSlots: 9 }) }, target, chosen(3));

    expect(scaling.maxIdleSlots).toBe(9);
    expect(setBy).toEqual({ minIdleSlots: 'wait_target p95 5s' });
  });

  it('never exceed max_idle_agents of the target, also where it was lowered since', () => {
    const { scaling } = withChosenIdle({ scaling: someScaling() }, { ...target, maxIdleSlots: 2 }, chosen(8));

    expect(scaling.minIdleSlots).toBe(2);
  });

  it('are those of a window of the schedules where it keeps more', () => {
    const now = { scaling: someScaling({ minIdleSlots: 4 }), setBy: { minIdleSlots: 'schedule office' } };

    expect(withChosenIdle(now, target, chosen(4))).toBe(now);
    expect(withChosenIdle(now, target, chosen(5)).setBy?.minIdleSlots).toBe('wait_target p95 5s');
  });

  it('are the same object while nothing changes, so that equal decisions are written once', () => {
    const [now, row] = [{ scaling: someScaling() }, chosen(3)];
    const first = withChosenIdle(now, target, row);

    expect(withChosenIdle(now, target, row).scaling).toBe(first.scaling);
    expect(withChosenIdle(now, target, chosen(4)).scaling).not.toBe(first.scaling);
  });
});

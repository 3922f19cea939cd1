import { describe, expect, it } from 'vitest';
import { type CallBudget, openCallBudget } from './call-budget.ts';
import { VirtualClock } from './virtual-clock.ts';

const signal = new AbortController().signal;

/** When each of `count` calls may leave, in milliseconds from now. */
async function times(clock: VirtualClock, budget: CallBudget, { count = 1, weight = 1 } = {}): Promise<number[]> {
  const startMs = clock.monotonic();
  const left: number[] = [];
  for (let at = 0; at < count; at++)
    void budget.take(signal, weight).then(() => left.push(Math.round(clock.monotonic() - startMs)));
  await clock.advance(3_600_000);
  return left;
}

describe('a budget', () => {
  it('lets one second’s worth through at once, and then one after the other', async () => {
    const clock = new VirtualClock();

    expect(await times(clock, openCallBudget(clock, 2), { count: 5 })).toEqual([0, 0, 500, 1_000, 1_500]);
  });

  it('lets as many through at once as its burst says', async () => {
    const clock = new VirtualClock();

    expect(await times(clock, openCallBudget(clock, { perSecond: 2, burst: 4 }), { count: 6 })).toEqual([
      0, 0, 0, 0, 500, 1_000,
    ]);
  });

  it('takes back what was not used', async () => {
    const clock = new VirtualClock();
    const budget = openCallBudget(clock, { perSecond: 2, burst: 1_000 });
    await budget.take(signal, 1_000);

    budget.giveBack(400);

    expect(budget.room()).toBe(400);
    budget.giveBack(5_000);
    expect(budget.room()).toBe(1_000);
  });

  it('counts a heavy call as many', async () => {
    const clock = new VirtualClock();
    const budget = openCallBudget(clock, { perSecond: 2, burst: 1_000 });

    expect(await times(clock, budget, { weight: 1_000 })).toEqual([0]);
    await clock.advance(3_600_000);
    expect(await times(clock, budget, { count: 3, weight: 500 })).toEqual([0, 0, 250_000]);
  });

  it('says how many could leave at once', async () => {
    const clock = new VirtualClock();
    const budget = openCallBudget(clock, { perSecond: 2, burst: 10 });
    expect(budget.room()).toBe(10);

    await budget.take(signal, 7);
    expect(budget.room()).toBe(3);
    await clock.advance(1_000);
    expect(budget.room()).toBe(5);
    budget.pause(2_000);
    expect(budget.room()).toBe(0);
  });

  it('lets nothing through while it is paused', async () => {
    const clock = new VirtualClock();
    const budget = openCallBudget(clock, 10);
    budget.pause(1_500);

    expect(await times(clock, budget, { count: 2 })).toEqual([1_500, 1_600]);
  });
});

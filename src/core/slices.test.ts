import { expect, it } from 'vitest';
import { inSlices } from './slices.ts';
import { VirtualClock } from './virtual-clock.ts';

/** A clock on which steps take as long as they say. */
function busyClock() {
  const clock = new VirtualClock();
  let nowMs = 0;
  const turns: number[] = [];
  return {
    clock: {
      ...clock,
      monotonic: () => nowMs,
      soon(run: () => void) {
        turns.push(nowMs);
        queueMicrotask(run);
      },
    } as never,
    work: (ms: number) => {
      nowMs += ms;
    },
    turns,
  };
}

it('lets others have their turn after each step that takes longer than a slice', async () => {
  const { clock, work, turns } = busyClock();

  await inSlices(clock, [100, 100, 100], work);

  expect(turns).toEqual([100, 200, 300]);
});

it('goes on while the slice lasts', async () => {
  const { clock, work, turns } = busyClock();

  await inSlices(clock, Array<number>(12).fill(1), work);

  expect(turns).toEqual([6, 12]);
});

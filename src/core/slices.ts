import type { Clock } from './clock.ts';

const SLICE_MS = 5;
// Asking the clock costs more than most steps do.
const STEPS_PER_LOOK = 8;

/** Runs a step for each item, and lets other events have their turn every few milliseconds. */
export async function inSlices<T>(clock: Clock, items: Iterable<T>, step: (item: T) => void): Promise<void> {
  let endMs = clock.monotonic() + SLICE_MS;
  let steps = 0;
  for (const item of items) {
    step(item);
    if (++steps % STEPS_PER_LOOK !== 0 || clock.monotonic() <= endMs) continue;
    await new Promise<void>((resolve) => clock.soon(resolve));
    endMs = clock.monotonic() + SLICE_MS;
  }
}

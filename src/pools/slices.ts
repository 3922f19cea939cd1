import type { Clock } from '#core/clock.ts';

const SLICE_MS = 5;

/** Runs a step for each item, and lets other events have their turn every few milliseconds. */
export async function inSlices<T>(clock: Clock, items: Iterable<T>, step: (item: T) => void): Promise<void> {
  let endMs = clock.monotonic() + SLICE_MS;
  for (const item of items) {
    step(item);
    if (clock.monotonic() <= endMs) continue;
    await new Promise<void>((resolve) => clock.soon(resolve));
    endMs = clock.monotonic() + SLICE_MS;
  }
}

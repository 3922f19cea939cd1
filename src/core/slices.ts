import type { Clock } from './clock.ts';

/** So long others wait at most. */
export const SLICE_MS = 5;

/** Long work in slices: other events get their turn every few milliseconds. */
export interface Slices {
  /** To be asked after every step, since one step may take as long as a slice. */
  isOver(): boolean;
  /** Lets other events have their turn, then begins the next slice. */
  next(): Promise<void>;
}

export function openSlices(clock: Clock): Slices {
  let endMs = clock.monotonic() + SLICE_MS;
  return {
    isOver: () => clock.monotonic() > endMs,
    async next() {
      await new Promise<void>((resolve) => clock.soon(resolve));
      endMs = clock.monotonic() + SLICE_MS;
    },
  };
}

/** Runs a step for each item, and lets other events have their turn every few milliseconds. */
export async function inSlices<T>(clock: Clock, items: Iterable<T>, step: (item: T) => void): Promise<void> {
  const slices = openSlices(clock);
  for (const item of items) {
    step(item);
    if (slices.isOver()) await slices.next();
  }
}

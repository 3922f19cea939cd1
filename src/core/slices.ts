import type { Clock } from './clock.ts';

const SLICE_MS = 5;

/** Long work in slices: other events get their turn every few milliseconds. */
export interface Slices {
  /** To be awaited after each step; resolves at once while the slice lasts. */
  turn(): Promise<void> | undefined;
}

export function openSlices(clock: Clock): Slices {
  let endMs = clock.monotonic() + SLICE_MS;
  const begin = (): void => {
    endMs = clock.monotonic() + SLICE_MS;
  };
  return {
    // After every step, since one step may take as long as a slice: a look at the clock costs less than any step worth slicing.
    turn: () =>
      clock.monotonic() <= endMs ? undefined : new Promise<void>((resolve) => clock.soon(resolve)).then(begin),
  };
}

/** Runs a step for each item, and lets other events have their turn every few milliseconds. */
export async function inSlices<T>(clock: Clock, items: Iterable<T>, step: (item: T) => void): Promise<void> {
  const slices = openSlices(clock);
  for (const item of items) {
    step(item);
    const turn = slices.turn();
    if (turn) await turn;
  }
}

import type { Clock } from './clock.ts';

const SLICE_MS = 5;

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

/** Work that comes in bursts from outside: at once while its share of a turn lasts, what is left in later turns, in order. */
export interface BurstQueue {
  run(work: () => void): void;
}

export function openBurstQueue(clock: Clock): BurstQueue {
  const waiting: (() => void)[] = [];
  let endMs: number | undefined;

  function next(): void {
    endMs = waiting.length > 0 ? clock.monotonic() + SLICE_MS : undefined;
    if (endMs === undefined) return;
    clock.soon(next);
    let done = 0;
    try {
      do waiting[done++]?.();
      while (done < waiting.length && clock.monotonic() <= endMs);
    } finally {
      waiting.splice(0, done);
    }
  }

  return {
    run(work) {
      if (endMs === undefined) {
        endMs = clock.monotonic() + SLICE_MS;
        clock.soon(next);
      }
      if (waiting.length > 0 || clock.monotonic() > endMs) waiting.push(work);
      else work();
    },
  };
}

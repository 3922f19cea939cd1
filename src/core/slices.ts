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
  /** What waits in one lane does not wait for all that came before it in the other: they are served by turns. */
  run(work: () => void, lane?: Lane): void;
}

export type Lane = 0 | 1;

// As many as may be called in one turn; each call costs a microsecond.
const MOST_CALLS = 256;

export function openBurstQueue(clock: Clock): BurstQueue {
  const lanes: Readonly<Record<Lane, (() => void)[]>> = [[], []];
  let served: Lane = 0;
  let isOpen = false;
  let endMs: number | undefined;
  let calls = 0;

  const waiting = (): number => lanes[0].length + lanes[1].length;

  function take(): (() => void) | undefined {
    const other = served === 0 ? 1 : 0;
    if (lanes[other].length > 0) served = other;
    return lanes[served].shift();
  }

  function nextTurn(): void {
    isOpen = waiting() > 0;
    endMs = undefined;
    if (isOpen) clock.soon(nextTurn);
  }

  /** Counted from the first work of a turn: what others do before it is not its share. */
  const hasTime = (): boolean => {
    const nowMs = clock.monotonic();
    endMs ??= nowMs + SLICE_MS;
    return nowMs <= endMs;
  };

  // One work for each call: ticks and promises that it sets off run before the next call, and so count for the share.
  function call(): void {
    calls += 1;
    clock.soon(() => {
      calls -= 1;
      try {
        if (hasTime()) take()?.();
      } finally {
        if (calls < waiting()) call();
      }
    });
  }

  return {
    run(work, lane = 0) {
      if (!isOpen) clock.soon(nextTurn);
      isOpen = true;
      if (waiting() === 0 && hasTime()) return work();
      lanes[lane].push(work);
      if (calls < MOST_CALLS) call();
    },
  };
}

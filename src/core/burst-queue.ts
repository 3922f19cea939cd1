import type { Clock } from './clock.ts';
import { SLICE_MS } from './slices.ts';

/** Work that comes in bursts from outside: at once while its share of a turn lasts, what is left in later turns, in order. */
export interface BurstQueue {
  /** Lanes are served by turns: what waits in one does not wait for all that came before it in the others. */
  run(work: () => void, lane?: string): void;
  /** Never at once: for those whom one event has woken together, and who will only then do their work. */
  turn(lane?: string): Promise<void>;
}

// As many as may be called in one turn; each call costs a microsecond.
const MOST_CALLS = 256;

export function openBurstQueue(clock: Clock): BurstQueue {
  // Those that have something to do, in the order in which they are served.
  const lanes = new Map<string, (() => void)[]>();
  let waiting = 0;
  let isOpen = false;
  let endMs: number | undefined;
  let calls = 0;

  function add(work: () => void, lane: string): void {
    const works = lanes.get(lane);
    if (works) works.push(work);
    else lanes.set(lane, [work]);
    waiting += 1;
    if (calls < MOST_CALLS) call();
  }

  function take(): (() => void) | undefined {
    const [first] = lanes;
    if (!first) return undefined;
    const [lane, works] = first;
    lanes.delete(lane);
    if (works.length > 1) lanes.set(lane, works);
    waiting -= 1;
    return works.shift();
  }

  function nextTurn(): void {
    isOpen = waiting > 0;
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
        if (calls < waiting) call();
      }
    });
  }

  function open(): void {
    if (!isOpen) clock.soon(nextTurn);
    isOpen = true;
  }

  return {
    run(work, lane = '') {
      open();
      if (waiting === 0 && hasTime()) work();
      else add(work, lane);
    },
    turn(lane = '') {
      open();
      return new Promise((resolve) => add(resolve, lane));
    },
  };
}

import type { Clock } from './clock.ts';
import { SLICE_MS } from './slices.ts';

/** Work that comes in bursts from outside: at once while its share of a turn lasts, what is left in later turns, in order. */
export interface BurstQueue {
  /** Lanes are served by turns: what waits in one does not wait for all that came before it in the others. */
  run(work: () => void, lane?: string): void;
  /** Never at once: for those whom one event has woken together, and who will only then do their work. */
  turn(lane?: string): Promise<void>;
}

/** A turn of the event loop; all queues of a clock count the same ones. */
interface Turns {
  count: number;
  isCounted: boolean;
}

const turnsOf = new WeakMap<Clock, Turns>();

/** The number of this turn. Each queue that counted by itself would wake the event loop once more a turn. */
function turnOf(clock: Clock): number {
  let turns = turnsOf.get(clock);
  if (!turns) {
    turns = { count: 0, isCounted: false };
    turnsOf.set(clock, turns);
  }
  if (!turns.isCounted) {
    const counted = turns;
    counted.isCounted = true;
    clock.soon(() => {
      counted.count += 1;
      counted.isCounted = false;
    });
  }
  return turns.count;
}

// As many as may be called in one turn; each call costs a microsecond.
const MOST_CALLS = 256;

export function openBurstQueue(clock: Clock): BurstQueue {
  // Those that have something to do, in the order in which they are served.
  const lanes = new Map<string, (() => void)[]>();
  let waiting = 0;
  let calls = 0;
  let turn = -1;
  let endMs = 0;

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

  /** Counted from the first work of a turn: what others do before it is not its share. */
  function hasTime(): boolean {
    const nowMs = clock.monotonic();
    const now = turnOf(clock);
    if (now !== turn) {
      turn = now;
      endMs = nowMs + SLICE_MS;
    }
    return nowMs <= endMs;
  }

  // One work for each call: ticks and promises that it sets off run before the next call, and so count for the share.
  function call(): void {
    calls += 1;
    // So that the call is in a turn that was counted.
    turnOf(clock);
    clock.soon(() => {
      calls -= 1;
      try {
        if (hasTime()) take()?.();
      } finally {
        if (calls < waiting) call();
      }
    });
  }

  return {
    run(work, lane = '') {
      if (waiting === 0 && hasTime()) work();
      else add(work, lane);
    },
    turn: (lane = '') => new Promise((resolve) => add(resolve, lane)),
  };
}

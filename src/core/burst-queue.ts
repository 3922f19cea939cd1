import type { Clock } from './clock.ts';
import { SLICE_MS } from './slices.ts';

/** Work that comes in bursts from outside: at once while its share of a turn lasts, what is left in later turns, in order. */
export interface BurstQueue {
  /** Fair queueing: flows are served round robin, so that a long one does not delay the others. */
  run(work: () => void, flow?: string): void;
  /** Always queued: for callers that one event wakes together. Each does its work after this resolves. */
  turn(flow?: string): Promise<void>;
}

/** A turn of the event loop; all queues of a clock count the same ones. */
interface Turns {
  count: number;
  isCounted: boolean;
}

const turnsOf = new WeakMap<Clock, Turns>();

/** The number of this turn. One `soon` a turn for all queues: each costs one more poll of the event loop. */
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
  // Flows with queued work, in the order in which they are served.
  const flows = new Map<string, (() => void)[]>();
  let waiting = 0;
  let calls = 0;
  let turn = -1;
  let endMs = 0;

  function add(work: () => void, flow: string): void {
    const works = flows.get(flow);
    if (works) works.push(work);
    else flows.set(flow, [work]);
    waiting += 1;
    if (calls < MOST_CALLS) call();
  }

  function take(): (() => void) | undefined {
    const [first] = flows;
    if (!first) return undefined;
    const [flow, works] = first;
    flows.delete(flow);
    if (works.length > 1) flows.set(flow, works);
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
    run(work, flow = '') {
      if (waiting === 0 && hasTime()) work();
      else add(work, flow);
    },
    turn: (flow = '') => new Promise((resolve) => add(resolve, flow)),
  };
}

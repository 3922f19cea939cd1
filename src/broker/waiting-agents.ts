import { Fault } from '#core/fault.ts';

/** Connections without a credential that we know, until their first message is whole. */
export interface WaitingAgents {
  add(stream: WaitingAgent): void;
  remove(stream: WaitingAgent): void;
}

interface WaitingAgent {
  end(fault: Fault): void;
}

// Each may hold the longest message of an unchecked caller: 64 MB in all.
const MOST_WAITING = 1_000;

/** Bounds what connections of unknown origin can hold: the one that has waited longest makes room for a new one. */
export function createWaitingAgents(): WaitingAgents {
  const waiting = new Set<WaitingAgent>();
  return {
    add(stream) {
      waiting.add(stream);
      const [longest] = waiting;
      if (waiting.size <= MOST_WAITING || !longest) return;
      longest.end(new Fault('throttled', 'Too many agents wait to join.', { remedy: 'Try again in a few seconds.' }));
    },
    remove: (stream) => void waiting.delete(stream),
  };
}

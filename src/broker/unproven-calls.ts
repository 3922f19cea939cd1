import { Fault } from '#core/fault.ts';

/** Calls whose callers have not proved yet who they are: each may make the server keep one long message, so few are open at a time. */
export interface UnprovenCalls {
  /** Counts a call from this address, or throws a `Fault`; the returned function ends that, and may be called twice. */
  enter(address: string): () => void;
}

const MOST_CALLS = 64;
const MOST_CALLS_PER_ADDRESS = 32;

export function createUnprovenCalls(): UnprovenCalls {
  const byAddress = new Map<string, number>();
  let total = 0;

  function count(address: string, change: 1 | -1): void {
    const calls = (byAddress.get(address) ?? 0) + change;
    if (calls > 0) byAddress.set(address, calls);
    else byAddress.delete(address);
    total += change;
  }

  return {
    enter(address) {
      const isFull = total >= MOST_CALLS || (byAddress.get(address) ?? 0) >= MOST_CALLS_PER_ADDRESS;
      if (isFull) {
        const why = 'Too many callers are about to prove who they are.';
        throw new Fault('throttled', why, { remedy: 'Try again in a few seconds.' });
      }
      count(address, 1);
      let isOpen = true;
      return () => {
        if (isOpen) count(address, -1);
        isOpen = false;
      };
    },
  };
}

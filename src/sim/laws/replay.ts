import type { DecisionRow } from '#core/journal.ts';
import { replayDecision } from '#foresight/replay.ts';
import type { Invariants } from '../invariants.ts';

// Every decision of a small world's day; of a large world's, unless all are asked for, a fiftieth after these.
const ALL_UP_TO = 2_000;
const THEN_EVERY = 50;

/** Each stored decision, computed again from its stored inputs, is the same decision. */
export function replayLaw(invariants: Invariants, replaysAll: boolean): (decision: DecisionRow) => void {
  let stored = 0;
  return (decision) => {
    stored += 1;
    if (!replaysAll && stored > ALL_UP_TO && stored % THEN_EVERY > 0) return;
    const again = replayDecision(decision);
    invariants.holds(
      'replayed',
      again.is === 'same',
      () =>
        `${decision.subject} decided "${decision.did}": ${decision.why} Computed again: ${JSON.stringify(again)} from ${decision.inputs}`,
    );
  };
}

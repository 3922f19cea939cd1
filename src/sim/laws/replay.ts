import { isDeepStrictEqual } from 'node:util';
import type { DecisionRow } from '#core/journal.ts';
import { readFacts } from '../../autoscaler/inputs.ts';
import { plan } from '../../autoscaler/plan.ts';
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
    const { did, reason, also, why, unless, facts } = decision;
    const made = decision.inputs === undefined ? undefined : plan(readFacts(decision.inputs));
    const again = made && {
      did: made.did,
      reason: made.reason,
      also: made.also,
      why: made.why,
      unless: made.unless,
      facts: made.figures,
    };
    invariants.holds(
      'replayed',
      isDeepStrictEqual(again, { did, reason, also, why, unless, facts }),
      () =>
        `${decision.subject} decided "${did}": ${why} Computed again: ${JSON.stringify(again)} from ${decision.inputs}`,
    );
  };
}

import type { Facts, Plan } from './facts.ts';
import { type Ledger, openLedger } from './ledger.ts';
import { removeOverdue } from './overdue.ts';
import { replaceOutdated } from './replace.ts';
import { grow, shrink } from './scale.ts';
import * as words from './words.ts';

export type { Action, Facts, OfferFact, Plan, WorkerFact } from './facts.ts';

/** What to do about a pool, and why. The same facts always give the same plan. */
export function plan(facts: Facts): Plan {
  const ledger = openLedger(facts);
  const saying = facts.isFrozen || facts.isPaused ? words.held(facts) : decide(facts, ledger);
  const { actions, againAtMs, surplusSinceMs } = ledger;
  return {
    actions,
    why: saying.why,
    unless: saying.unless,
    surplusSinceMs,
    againAfterMs: againAtMs === Number.POSITIVE_INFINITY ? undefined : Math.max(0, againAtMs - facts.nowMs),
    figures: words.figures(facts, ledger),
  };
}

function decide(facts: Facts, ledger: Ledger): words.Saying {
  if (facts.isRemoving) return removeAll(facts, ledger);
  removeOverdue(facts, ledger);
  if (facts.offers.length === 0) return words.after(ledger, words.MANUAL);
  if (!facts.isReady) return words.after(ledger, words.notReady(facts));
  replaceOutdated(facts, ledger);
  const growth = grow(facts, ledger);
  const shrinkage = growth.needed > 0 ? undefined : shrink(facts, ledger);
  return words.after(ledger, shrinkage ? words.shrinking(facts, shrinkage) : words.growing(facts, growth));
}

/** Whatever has no session goes at once; the others finish first. */
function removeAll(facts: Facts, ledger: Ledger): words.Saying {
  const why = 'the pool is being removed';
  let going = 0;
  let staying = 0;
  for (const worker of facts.workers) {
    if (worker.phase === 'unknown' || worker.phase === 'deleting') continue;
    if (worker.freeSlots < worker.slots) staying += 1;
    else {
      going += 1;
      if (worker.phase !== 'draining') ledger.actions.push({ do: 'remove', worker: worker.name, why });
    }
  }
  return words.removingPool(going, staying);
}

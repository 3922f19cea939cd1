import { type Counts, countWorkers, figuresOf, type Note } from './counts.ts';
import type { Action, Facts, Plan } from './facts.ts';
import { removeOverdue } from './overdue.ts';
import { judge } from './reasons.ts';
import { replaceOutdated } from './replace.ts';
import { grow, judgeGrowth, shrink } from './scale.ts';

export type { Action, Facts, OfferFact, Plan, WorkerFact } from './facts.ts';

/** What to do about a pool, and why. The same facts always give the same plan. */
export function plan(facts: Facts): Plan {
  const counts = countWorkers(facts);
  const last =
    facts.isFrozen || facts.isPaused ? idle(facts.isFrozen ? 'frozen' : 'paused', facts) : decide(facts, counts);
  const { actions, alternatives, againAtMs, surplusSinceMs } = counts;
  return {
    actions,
    did: didOf(actions),
    ...reasonsOf(counts.notes, last),
    alternatives,
    surplusSinceMs,
    againAfterMs: againAtMs === Number.POSITIVE_INFINITY ? undefined : Math.max(0, againAtMs - facts.nowMs),
    figures: figuresOf(facts, counts),
  };
}

function idle(code: 'frozen' | 'paused' | 'manual' | 'not-listed' | 'cloud-fault', facts: Facts): Note {
  return { ...judge(code, { facts }), acts: false };
}

function decide(facts: Facts, counts: Counts): Note {
  if (facts.isRemoving) return removeAll(facts, counts);
  removeOverdue(facts, counts);
  if (facts.offers.length === 0) return idle('manual', facts);
  if (!facts.isReady) return idle(facts.cloudFault === undefined ? 'not-listed' : 'cloud-fault', facts);
  replaceOutdated(facts, counts);
  const growth = grow(facts, counts);
  const shrinkage = growth.needed > 0 ? undefined : shrink(facts, counts);
  if (shrinkage) return { ...judge(shrinkage.how, { facts, shrinkage }), acts: shrinkage.removed > 0 };
  return { ...judgeGrowth(facts, growth), acts: growth.launched > 0 };
}

/** Whatever has no session goes at once; the others finish first. */
function removeAll(facts: Facts, counts: Counts): Note {
  const why = 'the pool is being removed';
  let going = 0;
  let staying = 0;
  for (const worker of facts.workers) {
    if (worker.phase === 'unknown' || worker.phase === 'deleting') continue;
    if (worker.freeSlots < worker.slots) staying += 1;
    else {
      going += 1;
      if (worker.phase !== 'draining') counts.actions.push({ do: 'remove', worker: worker.name, why });
    }
  }
  return { ...judge('pool-removed', { facts, going, staying }), acts: counts.actions.length > 0 };
}

/** All judgements in one sentence; the reason is one that led to actions, or else the last. */
function reasonsOf(notes: readonly Note[], last: Note): Pick<Plan, 'reason' | 'also' | 'why' | 'unless'> {
  const lead = last.acts ? last : (notes.find(({ acts }) => acts) ?? last);
  const sentence = [...notes, last].map(({ why }) => why).join('; ');
  return {
    reason: lead.reason,
    also: [...notes, last].filter((each) => each !== lead).map(({ reason }) => reason),
    why: `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`,
    unless: last.unless,
  };
}

function didOf(actions: readonly Action[]): string {
  if (actions.length === 0) return 'nothing';
  const counts = { launch: 0, drain: 0, remove: 0 };
  for (const action of actions) counts[action.do] += action.do === 'launch' ? action.count : 1;
  const parts = Object.entries(counts).map(([what, count]) => (count > 0 ? `${what} ${count}` : ''));
  return parts.filter(Boolean).join(', ');
}

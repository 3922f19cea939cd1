import type { BudgetRoom } from '#core/budget.ts';
import { countedPerHour } from './budget-room.ts';
import { addDrain, addRemoval, type Counts, countWorkers, figuresOf } from './counts.ts';
import type { Action, Facts, Plan, WorkerFact } from './facts.ts';
import { removeOverdue } from './overdue.ts';
import { type Judgement, judge, type PoolReason } from './reasons.ts';
import { removalOrder } from './removal-order.ts';
import { replaceOutdated } from './replace.ts';
import { grow, judgeGrowth, shrink } from './scale.ts';

export type { Action, Facts, OfferFact, Plan, WorkerFact } from './facts.ts';

/** What to do about a pool, and why. The same facts always give the same plan. */
export function plan(facts: Facts): Plan {
  const counts = countWorkers(facts);
  const last = decide(facts, counts);
  const { actions, notes, alternatives, againAtMs, surplusSinceMs } = counts;
  // The reason is one that led to actions, or else the last.
  const lead = last.acts ? last : (notes.find(({ acts }) => acts) ?? last);
  return {
    actions,
    did: didOf(actions),
    reason: lead.reason,
    also: notes.length === 0 ? [] : [...notes, last].filter((each) => each !== lead).map(({ reason }) => reason),
    why: sentenceOf(notes, last),
    unless: last.unless,
    alternatives,
    need: { wanted: wantedWorkers(facts, counts, last), lost: counts.phases.lost },
    surplusSinceMs,
    againAfterMs: againAtMs === Number.POSITIVE_INFINITY ? undefined : Math.max(0, againAtMs - facts.nowMs),
    figures: figuresOf(facts, counts),
  };
}

/** Bounds that are no number of agents: at one of them, idle slots and the queue ask in vain. */
const AT_BOUND: ReadonlySet<string> = new Set([
  'max-price',
  'budget-hour',
  'budget-month',
  'budget-spent',
  'price-unknown',
  'backends-full',
] satisfies PoolReason[]);

/** After the actions of the plan. A lost worker with sessions is still wanted: they wait for it. */
function wantedWorkers(facts: Facts, { size, idleSize, phases }: Counts, { reason }: Judgement): number {
  const { scaling, workers, offers } = facts;
  const isAway = ({ phase, freeSlots, slots }: WorkerFact): boolean => phase === 'lost' && freeSlots < slots;
  const away = phases.lost === 0 ? 0 : workers.filter(isAway).length;
  if (offers.length === 0 || scaling.mode === 'batch') return size + away;
  const forIdle = AT_BOUND.has(reason.code) ? 0 : Math.ceil((scaling.minIdleSlots - idleSize) / scaling.slotsPerAgent);
  const lacking = Math.max(0, forIdle, scaling.minAgents - size);
  return Math.max(size, Math.min(scaling.maxAgents, size + lacking + away));
}

function decide(facts: Facts, counts: Counts): Judgement {
  if (facts.isFrozen) return judge('frozen', { facts }, false);
  if (facts.isPaused) return judge('paused', { facts }, false);
  if (facts.isRemoving) return removeAll(facts, counts);
  removeOverdue(facts, counts);
  if (facts.offers.length === 0) return judge('manual', { facts }, false);
  if (!facts.isReady) return judge(facts.cloudFault === undefined ? 'not-listed' : 'cloud-fault', { facts }, false);
  const spent = facts.budgets?.find(({ isSpent }) => isSpent);
  const letGo = spent && letGoFor(facts, counts, spent);
  if (letGo) return letGo;
  replaceOutdated(facts, counts);
  const growth = grow(facts, counts);
  const shrinkage = growth.needed > 0 ? undefined : shrink(facts, counts);
  return shrinkage ? judge(shrinkage.how, { facts, shrinkage }, shrinkage.removed > 0) : judgeGrowth(facts, growth);
}

/**
 * What costs and has no session goes, whatever the pool would keep idle; with a session it takes no other, or a queue
 * would keep it busy for ever. Undefined: nothing of the pool costs.
 */
function letGoFor(facts: Facts, counts: Counts, budget: BudgetRoom): Judgement | undefined {
  const free = new Set(facts.offers.filter((offer) => countedPerHour(offer) === 0).map(({ id }) => id));
  const costs = ({ offer }: WorkerFact): boolean => offer === undefined || !free.has(offer);
  if (facts.offers.length > 0 && facts.offers.every(({ id }) => free.has(id))) return undefined;
  const why = `budget ${budget.name} is spent`;
  const going = removalOrder(facts, counts).filter(costs);
  for (const worker of going) addRemoval(counts, worker, { why });
  const busy = facts.workers.filter((worker) => worker.phase === 'busy' && costs(worker));
  for (const worker of busy) addDrain(counts, worker, why);
  const finishing = busy.length + counts.phases.draining;
  return judge('budget-spent', { facts, budget, going: going.length, finishing }, going.length + busy.length > 0);
}

/** Whatever has no session goes at once; the others finish first. */
function removeAll(facts: Facts, counts: Counts): Judgement {
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
  return judge('pool-removed', { facts, going, staying }, counts.actions.length > 0);
}

/** All judgements in one sentence. */
function sentenceOf(notes: readonly Judgement[], last: Judgement): string {
  const sentence = notes.length === 0 ? last.why : [...notes, last].map(({ why }) => why).join('; ');
  const first = sentence.charAt(0);
  const capital = first.toUpperCase();
  return capital === first ? `${sentence}.` : `${capital}${sentence.slice(1)}.`;
}

function didOf(actions: readonly Action[]): string {
  if (actions.length === 0) return 'nothing';
  const counts = { launch: 0, drain: 0, remove: 0 };
  for (const action of actions) counts[action.do] += action.do === 'launch' ? action.count : 1;
  let did = '';
  for (const what of ['launch', 'drain', 'remove'] as const)
    if (counts[what] > 0) did += `${did && ', '}${what} ${counts[what]}`;
  return did;
}

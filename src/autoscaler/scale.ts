import type { Tightest } from './budget-room.ts';
import { addRemoval, type Counts, lookAgainAt, mostIdleSlots } from './counts.ts';
import type { Facts, WorkerFact } from './facts.ts';
import { decayOf, type Judgement, judge, type PoolReason, shortage } from './reasons.ts';
import { canGo, removalOrder } from './removal-order.ts';
import { isOld, isTrying, surgeSlots } from './replace.ts';
import { type Spread, spread } from './spread.ts';

type Held = Extract<PoolReason, 'batch' | 'max-agents' | 'boot-failures' | 'probing'> | NonNullable<Spread['held']>;

export interface Growth {
  /** Workers that the pool lacks. */
  readonly needed: number;
  readonly launched: number;
  /** What held the rest back. */
  readonly held?: Held | undefined;
  /** An offer was passed over since launching from it failed, and what it said. */
  readonly isFromNext?: boolean | undefined;
  readonly coolingWhy?: string | undefined;
  /** The budget that leaves the least. */
  readonly tightest?: Tightest | undefined;
  /** As they were before anything was launched. */
  readonly idleSlots: number;
}

export interface Shrinkage {
  readonly removed: number;
  readonly how: Extract<PoolReason, 'above-max-idle' | 'idle-decay' | 'idle-decay-wait'>;
  readonly idleSlots: number;
}

/** Launches what `min_idle`, `min_agents` and the queue lack, as far as `max_agents` and earlier failures let it. */
export function grow(facts: Facts, counts: Counts): Growth {
  const { scaling } = facts;
  const { idleSlots } = counts;
  const forIdle = Math.ceil((scaling.minIdleSlots - counts.idleSize) / scaling.slotsPerAgent);
  const needed = Math.max(0, forIdle, scaling.minAgents - counts.size);
  if (needed === 0) return { needed, launched: 0, idleSlots };
  const stopped = heldBack(facts, counts);
  if (stopped !== undefined) {
    notLaunched(facts, counts, { held: stopped, count: needed });
    return { needed, launched: 0, idleSlots, held: stopped };
  }
  const room = Math.max(0, scaling.maxAgents - counts.total);
  const wanted = Math.min(needed, room, facts.isProbing ? 1 : needed);
  const found = spread(facts, counts, { wanted, why: shortage(facts, idleSlots) });
  const limited = wanted < needed ? limit(room, wanted) : undefined;
  if (limited !== undefined) notLaunched(facts, counts, { held: limited, count: needed - wanted });
  return { ...found, needed, idleSlots, held: found.held ?? limited };
}

const limit = (room: number, wanted: number): Held => (room > wanted ? 'probing' : 'max-agents');

const WHY_NOT: Readonly<Partial<Record<Held, (facts: Facts) => string>>> = {
  batch: () => 'in batch mode the pool does not grow by itself',
  'max-agents': ({ scaling }) => `max_agents ${scaling.maxAgents} is reached`,
  'boot-failures': () => 'several machines in a row did not join',
  probing: () => 'one machine at a time until an agent joins',
};

function notLaunched(facts: Facts, counts: Counts, { held, count }: { held: Held; count: number }): void {
  const whyNot = WHY_NOT[held]?.(facts);
  if (whyNot !== undefined) counts.alternatives.push({ what: `launch ${count} more`, whyNot });
}

function heldBack(facts: Facts, counts: Counts): Held | undefined {
  const { nowMs, scaling, runawayUntilMs = 0 } = facts;
  if (scaling.mode === 'batch') return 'batch';
  if (counts.total >= scaling.maxAgents) return 'max-agents';
  if (runawayUntilMs > nowMs) {
    lookAgainAt(counts, runawayUntilMs);
    return 'boot-failures';
  }
  return facts.isProbing && counts.phases.launching + counts.phases.booting > 0 ? 'probing' : undefined;
}

/** Why it grows, or why it does not. */
export function judgeGrowth(facts: Facts, growth: Growth): Judgement {
  const { needed, launched, held, isFromNext } = growth;
  const details = { facts, growth };
  if (needed === 0) return judge('enough', details, false);
  if (held !== undefined && (launched === 0 || held !== 'launch-failed')) return judge(held, details, launched > 0);
  return judge(isFromNext ? 'next-backend' : 'demand', details, true);
}

/** Removes what idles beyond `max_idle` at once, and between the limits one worker each `idle_decay`. */
export function shrink(facts: Facts, counts: Counts): Shrinkage | undefined {
  const { scaling } = facts;
  const { idleSlots } = counts;
  if (counts.idleSize <= scaling.minIdleSlots) return undefined;
  if (counts.size <= scaling.minAgents) return notRemoved(counts, `min_agents ${scaling.minAgents} would be missed`);
  const surge = surgeSlots(facts);
  const all = removalOrder(facts, counts);
  const excess = cut(facts, counts, {
    // What has come to replace others must not go in their place.
    from: surge > 0 ? all.filter(isOld) : all,
    why: 'more slots idle than max_idle',
    until: mostIdleSlots(facts) + surge,
  });
  const above: Shrinkage | undefined =
    excess.removed > 0 ? { removed: excess.removed, how: 'above-max-idle', idleSlots } : undefined;
  // Nor may the others go for one that has not joined: it may never do.
  if (surge > 0 && isTrying(facts)) return above ?? notRemoved(counts, 'workers are being replaced');
  if (!isSurplus(facts, counts, excess.rest))
    return above ?? notRemoved(counts, `min_idle ${scaling.minIdleSlots} would be missed`);
  return decay(facts, counts, { rest: excess.rest, above, idleSlots });
}

/** Removes one worker each `idle_decay`, or all at once where that is 0. */
function decay(
  facts: Facts,
  counts: Counts,
  { rest, above, idleSlots }: { rest: readonly WorkerFact[]; above: Shrinkage | undefined; idleSlots: number },
): Shrinkage {
  const { scaling, nowMs } = facts;
  const sinceMs = above ? nowMs : (facts.surplusSinceMs ?? nowMs);
  if (nowMs - sinceMs < scaling.idleDecayMs) {
    waitForDecay(facts, counts, sinceMs);
    if (above) return above;
    notRemoved(counts, `idle_decay ${decayOf(facts)} has not passed`);
    return { removed: 0, how: 'idle-decay-wait', idleSlots };
  }
  const most = scaling.idleDecayMs > 0 ? 1 : Number.POSITIVE_INFINITY;
  const decayed = cut(facts, counts, { from: rest, why: 'more slots idle than min_idle for idle_decay', most });
  if (isSurplus(facts, counts, decayed.rest)) waitForDecay(facts, counts, nowMs);
  return { removed: (above?.removed ?? 0) + decayed.removed, how: 'idle-decay', idleSlots };
}

function notRemoved({ alternatives }: Counts, whyNot: string): undefined {
  alternatives.push({ what: 'remove an idle worker', whyNot });
}

const isSurplus = (facts: Facts, counts: Counts, rest: readonly WorkerFact[]): boolean =>
  rest.some((worker) => canGo(facts, counts, worker));

function waitForDecay({ scaling }: Facts, counts: Counts, sinceMs: number): void {
  counts.surplusSinceMs = sinceMs;
  lookAgainAt(counts, sinceMs + scaling.idleDecayMs);
}

interface Cut {
  readonly from: readonly WorkerFact[];
  readonly why: string;
  readonly most?: number;
  /** Stops when no more slots than this idle. */
  readonly until?: number;
}

function cut(facts: Facts, counts: Counts, { from, why, most = from.length, until = 0 }: Cut) {
  const rest: WorkerFact[] = [];
  let removed = 0;
  for (const worker of from) {
    if (removed < most && counts.idleSize > until && canGo(facts, counts, worker)) {
      addRemoval(counts, worker, { why });
      removed += 1;
    } else rest.push(worker);
  }
  return { removed, rest };
}

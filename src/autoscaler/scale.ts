import type { Facts, WorkerFact } from './facts.ts';
import { bookRemoval, type Ledger, lookAgainAt, mostIdleSlots } from './ledger.ts';
import { isOld, isTrying, surgeSlots } from './replace.ts';
import { spread } from './spread.ts';
import { canGo, victims } from './victims.ts';
import { shortage } from './words.ts';

export interface Growth {
  /** Workers that the pool lacks. */
  readonly needed: number;
  readonly launched: number;
  /** What held the rest back. */
  readonly held?: 'batch' | 'cap' | 'cooling' | 'price' | 'full' | 'runaway' | 'probing' | undefined;
  /** What the offers said that were passed over. */
  readonly coolingWhy?: string | undefined;
  /** As they were before anything was launched. */
  readonly idleSlots: number;
}

export interface Shrinkage {
  readonly removed: number;
  /** `decay`: one worker each `idle_decay`; `excess`: above `max_idle`, at once. */
  readonly how: 'decay' | 'excess' | 'waiting';
  readonly idleSlots: number;
}

/** Launches what `min_idle`, `min_agents` and the queue lack, as far as `max_agents` and earlier failures let it. */
export function grow(facts: Facts, ledger: Ledger): Growth {
  const { scaling } = facts;
  const { idleSlots } = ledger;
  const forIdle = Math.ceil((scaling.minIdleSlots - ledger.idleSize) / scaling.slotsPerAgent);
  const needed = Math.max(0, forIdle, scaling.minAgents - ledger.size);
  if (needed === 0) return { needed, launched: 0, idleSlots };
  const held = heldBack(facts, ledger);
  if (held !== undefined) return { needed, launched: 0, idleSlots, held };
  const room = Math.max(0, scaling.maxAgents - ledger.total);
  const wanted = Math.min(needed, room, facts.isProbing ? 1 : needed);
  const found = spread(facts, ledger, { wanted, why: shortage(facts, { idleSlots }) });
  return { ...found, needed, idleSlots, held: found.held ?? (wanted < needed ? limit(room, wanted) : undefined) };
}

const limit = (room: number, wanted: number): Growth['held'] => (room > wanted ? 'probing' : 'cap');

function heldBack(facts: Facts, ledger: Ledger): Growth['held'] {
  const { nowMs, scaling, runawayUntilMs = 0 } = facts;
  if (scaling.mode === 'batch') return 'batch';
  if (ledger.total >= scaling.maxAgents) return 'cap';
  if (runawayUntilMs > nowMs) {
    lookAgainAt(ledger, runawayUntilMs);
    return 'runaway';
  }
  return facts.isProbing && ledger.phases.launching + ledger.phases.booting > 0 ? 'probing' : undefined;
}

/** Removes what idles beyond `max_idle` at once, and between the limits one worker each `idle_decay`. */
export function shrink(facts: Facts, ledger: Ledger): Shrinkage | undefined {
  const { scaling, nowMs } = facts;
  const { idleSlots } = ledger;
  if (ledger.size <= scaling.minAgents || ledger.idleSize <= scaling.minIdleSlots) return undefined;
  const surge = surgeSlots(facts);
  const all = victims(facts, ledger);
  const excess = cut(facts, ledger, {
    // What has come to replace others must not go in their place.
    from: surge > 0 ? all.filter(isOld) : all,
    why: 'more slots idle than max_idle',
    until: mostIdleSlots(facts) + surge,
  });
  // Nor may the others go for one that has not joined: it may never do.
  if ((surge > 0 && isTrying(facts)) || !isSurplus(facts, ledger, excess.rest)) {
    return excess.removed > 0 ? { removed: excess.removed, how: 'excess', idleSlots } : undefined;
  }
  const sinceMs = excess.removed > 0 ? nowMs : (facts.surplusSinceMs ?? nowMs);
  if (nowMs - sinceMs < scaling.idleDecayMs) {
    waitForDecay(facts, ledger, sinceMs);
    return { removed: excess.removed, how: excess.removed > 0 ? 'excess' : 'waiting', idleSlots };
  }
  const most = scaling.idleDecayMs > 0 ? 1 : Number.POSITIVE_INFINITY;
  const decayed = cut(facts, ledger, {
    from: excess.rest,
    why: 'more slots idle than min_idle for idle_decay',
    most,
  });
  if (isSurplus(facts, ledger, decayed.rest)) waitForDecay(facts, ledger, nowMs);
  return { removed: excess.removed + decayed.removed, how: 'decay', idleSlots };
}

const isSurplus = (facts: Facts, ledger: Ledger, rest: readonly WorkerFact[]): boolean =>
  rest.some((worker) => canGo(facts, ledger, worker));

function waitForDecay({ scaling }: Facts, ledger: Ledger, sinceMs: number): void {
  ledger.surplusSinceMs = sinceMs;
  lookAgainAt(ledger, sinceMs + scaling.idleDecayMs);
}

interface Cut {
  readonly from: readonly WorkerFact[];
  readonly why: string;
  readonly most?: number;
  /** Stops when no more slots than this idle. */
  readonly until?: number;
}

function cut(facts: Facts, ledger: Ledger, { from, why, most = from.length, until = 0 }: Cut) {
  const rest: WorkerFact[] = [];
  let removed = 0;
  for (const worker of from) {
    if (removed < most && ledger.idleSize > until && canGo(facts, ledger, worker)) {
      bookRemoval(ledger, worker, { why });
      removed += 1;
    } else rest.push(worker);
  }
  return { removed, rest };
}

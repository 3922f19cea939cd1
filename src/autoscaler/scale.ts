import type { Facts, WorkerFact } from './facts.ts';
import { bookRemoval, type Ledger, lookAgainAt, mostIdleSlots } from './ledger.ts';
import { shortage } from './words.ts';

export interface Growth {
  /** Workers that the pool lacks. */
  readonly needed: number;
  readonly launched: number;
  /** What held the rest back. */
  readonly held?: 'batch' | 'cap' | 'cooling' | 'runaway' | 'probing' | undefined;
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
  const room = Math.max(0, scaling.maxAgents - ledger.total);
  const launched = held === undefined ? Math.min(needed, room, facts.isProbing ? 1 : needed) : 0;
  const growth: Growth = {
    needed,
    launched,
    idleSlots,
    held: held ?? (launched < needed ? limit(room, needed) : undefined),
  };
  if (launched > 0) ledger.actions.push({ do: 'launch', count: launched, why: shortage(facts, growth) });
  ledger.size += launched;
  ledger.total += launched;
  ledger.idleSlots += launched * scaling.slotsPerAgent;
  ledger.idleSize += launched * scaling.slotsPerAgent;
  return growth;
}

const limit = (room: number, needed: number): Growth['held'] => (room < needed ? 'cap' : 'probing');

function heldBack(facts: Facts, ledger: Ledger): Growth['held'] {
  const { nowMs, scaling, coolingUntilMs = 0, runawayUntilMs = 0 } = facts;
  if (scaling.mode === 'batch') return 'batch';
  if (ledger.total >= scaling.maxAgents) return 'cap';
  if (runawayUntilMs > nowMs) {
    lookAgainAt(ledger, runawayUntilMs);
    return 'runaway';
  }
  if (coolingUntilMs > nowMs) {
    lookAgainAt(ledger, coolingUntilMs);
    return 'cooling';
  }
  return facts.isProbing && ledger.phases.launching + ledger.phases.booting > 0 ? 'probing' : undefined;
}

/** Removes what idles beyond `max_idle` at once, and between the limits one worker each `idle_decay`. */
export function shrink(facts: Facts, ledger: Ledger): Shrinkage | undefined {
  const { scaling, nowMs } = facts;
  const { idleSlots } = ledger;
  if (ledger.size <= scaling.minAgents || ledger.idleSize <= scaling.minIdleSlots) return undefined;
  const excess = cut(facts, ledger, {
    victims: inOrder(facts, ledger),
    why: 'more slots idle than max_idle',
    until: mostIdleSlots(facts),
  });
  if (!isSurplus(facts, ledger, excess.rest)) {
    return excess.removed > 0 ? { removed: excess.removed, how: 'excess', idleSlots } : undefined;
  }
  const sinceMs = excess.removed > 0 ? nowMs : (facts.surplusSinceMs ?? nowMs);
  if (nowMs - sinceMs < scaling.idleDecayMs) {
    waitForDecay(facts, ledger, sinceMs);
    return { removed: excess.removed, how: excess.removed > 0 ? 'excess' : 'waiting', idleSlots };
  }
  const most = scaling.idleDecayMs > 0 ? 1 : Number.POSITIVE_INFINITY;
  const decayed = cut(facts, ledger, {
    victims: excess.rest,
    why: 'more slots idle than min_idle for idle_decay',
    most,
  });
  if (isSurplus(facts, ledger, decayed.rest)) waitForDecay(facts, ledger, nowMs);
  return { removed: excess.removed + decayed.removed, how: 'decay', idleSlots };
}

const isSurplus = (facts: Facts, ledger: Ledger, victims: readonly WorkerFact[]): boolean =>
  victims.some((worker) => canGo(facts, ledger, worker));

function waitForDecay({ scaling }: Facts, ledger: Ledger, sinceMs: number): void {
  ledger.surplusSinceMs = sinceMs;
  lookAgainAt(ledger, sinceMs + scaling.idleDecayMs);
}

interface Cut {
  readonly victims: readonly WorkerFact[];
  readonly why: string;
  readonly most?: number;
  /** Stops when no more slots than this idle. */
  readonly until?: number;
}

function cut(facts: Facts, ledger: Ledger, { victims, why, most = victims.length, until = 0 }: Cut) {
  const rest: WorkerFact[] = [];
  let removed = 0;
  for (const worker of victims) {
    if (removed < most && ledger.idleSize > until && canGo(facts, ledger, worker)) {
      bookRemoval(ledger, worker, { why });
      removed += 1;
    } else rest.push(worker);
  }
  return { removed, rest };
}

/** A worker goes only where `min_idle`, `min_agents` and the queue hold without it: else it would be launched again. */
function canGo({ scaling }: Facts, ledger: Ledger, worker: WorkerFact): boolean {
  return ledger.size > scaling.minAgents && ledger.idleSize - worker.freeSlots >= scaling.minIdleSlots;
}

const isComing = (worker: WorkerFact): boolean => worker.phase === 'launching' || worker.phase === 'booting';

/** Who may go, first to last: those not yet joined, newest first; then those idle longest. Never one with a session. */
function inOrder(facts: Facts, ledger: Ledger): WorkerFact[] {
  const removed = new Set(ledger.actions.map((action) => (action.do === 'remove' ? action.worker : '')));
  return facts.workers
    .filter((worker) => (isComing(worker) || worker.phase === 'idle') && worker.freeSlots === worker.slots)
    .filter((worker) => !removed.has(worker.name))
    .sort((a, b) => {
      if (isComing(a) !== isComing(b)) return isComing(a) ? -1 : 1;
      const older = a.sinceMs - b.sinceMs || (a.name < b.name ? -1 : 1);
      return isComing(a) ? -older : older;
    });
}

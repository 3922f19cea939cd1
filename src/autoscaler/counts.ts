import { nanoPrice } from '#core/pool-price.ts';
import type { Alternative } from '#core/reason.ts';
import type { Action, Facts, WorkerFact } from './facts.ts';
import type { Judgement } from './reasons.ts';

/** The counts that a plan works with; each action changes them at once. */
export interface Counts {
  readonly actions: Action[];
  /** Workers that serve or soon will; what `min_agents` counts. */
  size: number;
  /** Machines that exist or may exist; what `max_agents` limits. */
  total: number;
  /** Free slots, also of workers on their way; queued sessions have first call on them. */
  idleSlots: number;
  /** What the machines that exist or may exist cost together, in whole billionths: a sum in any order is the same. */
  pricePerHourNano: number;
  /** What budgets count for the launches of this plan. */
  launchedNano: number;
  /** Idle slots beyond the queue; negative where the queue is longer. */
  idleSize: number;
  /** Removed for what they did, not to save money, or kept in spite of it: a judgement for each reason. */
  readonly notes: Judgement[];
  /** What was considered and not done. */
  readonly alternatives: Alternative[];
  againAtMs: number;
  surplusSinceMs: number | undefined;
  readonly phases: Record<WorkerFact['phase'], number>;
}

/** Whether it counts as capacity: here, on its way, or expected back. */
const SERVES: Readonly<Record<WorkerFact['phase'], boolean>> = {
  launching: true,
  booting: true,
  idle: true,
  busy: true,
  returning: true,
  unknown: true,
  draining: false,
  lost: false,
  parked: false,
  deleting: false,
};

/** A stopped machine has no agent, and its hours cost next to nothing. */
export const isAtRest = ({ phase, isStopping }: WorkerFact): boolean => phase === 'parked' && !isStopping;

export function countWorkers(facts: Facts): Counts {
  const counts: Counts = {
    actions: [],
    size: 0,
    total: 0,
    pricePerHourNano: 0,
    launchedNano: 0,
    idleSlots: 0,
    idleSize: 0,
    notes: [],
    alternatives: [],
    againAtMs: Number.POSITIVE_INFINITY,
    surplusSinceMs: undefined,
    phases: {
      launching: 0,
      booting: 0,
      idle: 0,
      busy: 0,
      returning: 0,
      unknown: 0,
      draining: 0,
      lost: 0,
      parked: 0,
      deleting: 0,
    },
  };
  for (const worker of facts.workers) {
    counts.phases[worker.phase] += 1;
    if (isAtRest(worker)) continue;
    counts.total += 1;
    if (worker.pricePerHour !== undefined) counts.pricePerHourNano += nanoPrice(worker.pricePerHour);
    if (!SERVES[worker.phase]) continue;
    counts.size += 1;
    if (worker.phase !== 'unknown') counts.idleSlots += worker.freeSlots;
  }
  counts.idleSize = counts.idleSlots - facts.queued;
  return counts;
}

/** Adds a removal. The machine still exists, so it goes on counting against `max_agents`. */
export function addRemoval(
  counts: Counts,
  worker: WorkerFact,
  cause: { readonly why: string; readonly isOverdue?: boolean },
): void {
  counts.actions.push({ do: 'remove', worker: worker.name, ...cause });
  if (!SERVES[worker.phase]) return;
  counts.size -= 1;
  if (worker.phase === 'unknown') return;
  counts.idleSlots -= worker.freeSlots;
  counts.idleSize -= worker.freeSlots;
}

/** Adds a drain: its free slots take no new session. */
export function addDrain(counts: Counts, worker: WorkerFact, why: string): void {
  counts.actions.push({ do: 'drain', worker: worker.name, why });
  counts.size -= 1;
  counts.idleSlots -= worker.freeSlots;
  counts.idleSize -= worker.freeSlots;
}

/** The passing of time alone may change the plan at this moment. */
export function lookAgainAt(counts: Counts, ms: number): void {
  if (ms < counts.againAtMs) counts.againAtMs = ms;
}

/** How many slots may idle before workers go at once; never so few that one launch for `min_idle` would exceed it. */
export function mostIdleSlots({ scaling }: Facts): number {
  return Math.max(scaling.maxIdleSlots, scaling.minIdleSlots + scaling.slotsPerAgent - 1);
}

/** The figures behind a plan, for the journal and for `pool why`. */
export function figuresOf(facts: Facts, counts: Counts): Readonly<Record<string, number | boolean>> {
  const { scaling } = facts;
  const { phases, pricePerHourNano } = counts;
  // Written out: every pass makes one, and copies of a part cost more than all the rest.
  const figures: Record<string, number | boolean> = {
    queued: facts.queued,
    launching: phases.launching,
    booting: phases.booting,
    idle: phases.idle,
    busy: phases.busy,
    returning: phases.returning,
    unknown: phases.unknown,
    draining: phases.draining,
    lost: phases.lost,
    parked: phases.parked,
    deleting: phases.deleting,
    machines: facts.workers.length,
    minIdleSlots: scaling.minIdleSlots,
    maxIdleSlots: mostIdleSlots(facts),
    minAgents: scaling.minAgents,
    maxAgents: scaling.maxAgents,
    slotsPerAgent: scaling.slotsPerAgent,
    isReady: facts.isReady,
  };
  if (pricePerHourNano > 0) figures.pricePerHour = Math.round(pricePerHourNano / 1e5) / 1e4;
  if (scaling.maxPricePerHour !== undefined) figures.maxPricePerHour = scaling.maxPricePerHour;
  return figures;
}

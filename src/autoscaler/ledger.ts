import type { Action, Facts, WorkerFact } from './facts.ts';

/** The counts that a plan works with; removing and launching book their effect here at once. */
export interface Ledger {
  readonly actions: Action[];
  /** Workers that serve or soon will; what `min_agents` counts. */
  size: number;
  /** Machines that exist or may exist; what `max_agents` limits. */
  total: number;
  /** Free slots, also of workers on their way; queued sessions have first call on them. */
  idleSlots: number;
  /** What the machines that exist or may exist cost together. */
  pricePerHour: number;
  /** Idle slots beyond the queue; negative where the queue is longer. */
  idleSize: number;
  /** Removed for what they did, not to save money: one sentence part for each reason. */
  readonly notes: string[];
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

/** A machine that stands still is nobody's agent, and its hours cost nothing to speak of. */
export const isAtRest = ({ phase, isStopping }: WorkerFact): boolean => phase === 'parked' && !isStopping;

export function openLedger(facts: Facts): Ledger {
  const ledger: Ledger = {
    actions: [],
    size: 0,
    total: 0,
    pricePerHour: 0,
    idleSlots: 0,
    idleSize: 0,
    notes: [],
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
    ledger.phases[worker.phase] += 1;
    if (isAtRest(worker)) continue;
    ledger.total += 1;
    ledger.pricePerHour += worker.pricePerHour ?? 0;
    if (!SERVES[worker.phase]) continue;
    ledger.size += 1;
    if (worker.phase !== 'unknown') ledger.idleSlots += worker.freeSlots;
  }
  ledger.idleSize = ledger.idleSlots - facts.queued;
  return ledger;
}

/** Books a removal. The machine still exists, so it goes on counting against `max_agents`. */
export function bookRemoval(
  ledger: Ledger,
  worker: WorkerFact,
  cause: { readonly why: string; readonly isOverdue?: boolean },
): void {
  ledger.actions.push({ do: 'remove', worker: worker.name, ...cause });
  if (!SERVES[worker.phase]) return;
  ledger.size -= 1;
  if (worker.phase === 'unknown') return;
  ledger.idleSlots -= worker.freeSlots;
  ledger.idleSize -= worker.freeSlots;
}

/** Books a drain: its free slots are free for nobody any more. */
export function bookDrain(ledger: Ledger, worker: WorkerFact, why: string): void {
  ledger.actions.push({ do: 'drain', worker: worker.name, why });
  ledger.size -= 1;
  ledger.idleSlots -= worker.freeSlots;
  ledger.idleSize -= worker.freeSlots;
}

/** The passing of time alone may change the plan at this moment. */
export function lookAgainAt(ledger: Ledger, ms: number): void {
  if (ms < ledger.againAtMs) ledger.againAtMs = ms;
}

/** How many slots may idle before workers go at once; never so few that one launch for `min_idle` would exceed it. */
export function mostIdleSlots({ scaling }: Facts): number {
  return Math.max(scaling.maxIdleSlots, scaling.minIdleSlots + scaling.slotsPerAgent - 1);
}

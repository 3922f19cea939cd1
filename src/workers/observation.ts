// What this process has seen of a worker beyond its machine: its agent, and whether that is at work.

import type { Agent } from '#core/machine.ts';
import type { Machine } from '#core/provider.ts';
import type { Worker } from '#core/worker.ts';
import type { FeatureFields, Observation } from '#machines/observation.ts';
import type { WorkersContext } from './context.ts';
import type { Survey } from './survey.ts';

/** A restart forgets it; all times are on the monotonic clock. */
export interface WorkerObservation extends Observation {
  readonly idleSinceMs: number | undefined;
  /** Since when it counts as away, where its agent is not connected. */
  readonly awaySinceMs: number | undefined;
  /** Until then it counts as present anyway. */
  readonly backByMs: number;
  /** As its agent reported last. */
  readonly slots: number | undefined;
  /** That its agent is connected and its machine is not listed has been logged. */
  readonly isUnlistedLogged: boolean;
}

/** What is assumed of a worker that was not seen yet: one from before this process has the grace of a restart to come back. */
export function unseenWorkers(graceEndMs: number): (isFromBefore: boolean) => FeatureFields<WorkerObservation> {
  const unseen: FeatureFields<WorkerObservation> = {
    idleSinceMs: undefined,
    awaySinceMs: undefined,
    backByMs: Number.NEGATIVE_INFINITY,
    slots: undefined,
    isUnlistedLogged: false,
  };
  const fromBefore = { ...unseen, awaySinceMs: graceEndMs, backByMs: graceEndMs };
  return (isFromBefore) => (isFromBefore ? fromBefore : unseen);
}

/** The observation as this look leaves it; the very same where there is nothing new. */
export function afterLook(
  seen: WorkerObservation,
  look: { agent: Agent | undefined; sessions: number; machine: Machine | undefined; nowMs: number },
): WorkerObservation {
  const { agent, sessions, machine, nowMs } = look;
  const slots = agent ? agent.slots : seen.slots;
  const idleSinceMs = agent && sessions === 0 ? (seen.idleSinceMs ?? nowMs) : undefined;
  const isUnlistedLogged = seen.isUnlistedLogged && !machine;
  const isSame = slots === seen.slots && idleSinceMs === seen.idleSinceMs && isUnlistedLogged === seen.isUnlistedLogged;
  return isSame ? seen : { ...seen, slots, idleSinceMs, isUnlistedLogged };
}

/** Keeps what a survey has found: only passes do, so that reading a plan changes nothing. */
export function observeSurvey({ owned, pools, store }: WorkersContext, pool: string, survey: Survey): void {
  for (const { worker, observation } of survey.seen) owned.observations.observeWhole(worker.id, observation);
  pools.observeLost(pool, survey.lost, { ofPool: survey.here, ofFleet: store.view.workers.size });
}

/** Its agent joined: if it disconnects at once, it is expected to reconnect. */
export function observeJoined({ owned, clock, times }: WorkersContext, worker: Worker): void {
  const backByMs = clock.monotonic() + times.returnGraceMs;
  owned.observations.observe(worker, { backByMs, awaySinceMs: backByMs });
}

/** Its agent is connected; answers whether it counted as away before. */
export function observeConnected({ owned, clock, pools }: WorkersContext, worker: Worker): boolean {
  const nowMs = clock.monotonic();
  const { missedFromMs, awaySinceMs } = owned.observations.of(worker);
  const isMissed = missedFromMs !== Number.POSITIVE_INFINITY;
  owned.observations.observe(worker, {
    missedFromMs: isMissed ? missedFromMs : nowMs,
    awaySinceMs: undefined,
  });
  pools.forgetLost(worker);
  return awaySinceMs !== undefined && awaySinceMs <= nowMs;
}

/** Its agent calls, and cannot be admitted before its cloud has been listed: it is on its way back. */
export function observeCalling({ owned, clock, times }: WorkersContext, worker: Worker): void {
  const backByMs = clock.monotonic() + times.returnGraceMs;
  if (backByMs > owned.observations.of(worker).backByMs) {
    owned.observations.observe(worker, { backByMs, awaySinceMs: backByMs });
  }
}

/** Its agent disconnected: it counts as present for a while. */
export function observeDisconnected({ owned, clock, times }: WorkersContext, worker: Worker, agent: Agent): void {
  const nowMs = clock.monotonic();
  const { missedFromMs } = owned.observations.of(worker);
  owned.observations.observe(worker, {
    slots: agent.slots,
    awaySinceMs: nowMs,
    backByMs: nowMs + times.returnGraceMs,
    // It was present until now, whatever a listing showed.
    missedFromMs: missedFromMs === Number.POSITIVE_INFINITY ? nowMs : Math.max(missedFromMs, nowMs),
  });
}

/** It may be at work: it counts as one that has joined, is away, and gets the grace of a restart to come back. */
export function observeAdopted({ owned, clock, times }: WorkersContext, name: string): void {
  const nowMs = clock.monotonic();
  const backByMs = nowMs + times.reconnectGraceMs;
  owned.observations.observeFirst(name, { missedFromMs: nowMs, backByMs, awaySinceMs: backByMs });
}

import type { Clock } from '#core/clock.ts';
import type { Session } from '#core/session.ts';
import type { SimCallName, SimCloud } from './backend.ts';
import { noRequiredEvents, type RequiredEvent } from './required-events.ts';

/** What a run came to, in numbers. */
export interface Figures {
  accepted: number;
  starts: number;
  launched: number;
  deleted: number;
  /** Machines that ended by themselves. */
  died: number;
  crashes: number;
  /** Machines that were made when the server that had asked for them was no more. */
  lateMachines: number;
  readonly calls: Record<SimCallName, number>;
  passes: number;
  /** Of machines, from their making to their end. */
  machineMs: number;
  /** Of sessions that ran, divided by the slots of a machine. */
  neededMs: number;
  /** From acceptance to the first start. */
  readonly waitsMs: number[];
  readonly decisions: Map<string, number>;
  /** By their kind. */
  readonly events: Map<string, number>;
  readonly requiredEvents: Record<RequiredEvent, number>;
}

export function openFigures(): Figures {
  return {
    accepted: 0,
    starts: 0,
    launched: 0,
    deleted: 0,
    died: 0,
    crashes: 0,
    lateMachines: 0,
    calls: { list: 0, create: 0, check: 0, delete: 0, suspend: 0, resume: 0 },
    passes: 0,
    machineMs: 0,
    neededMs: 0,
    waitsMs: [],
    decisions: new Map(),
    events: new Map(),
    requiredEvents: noRequiredEvents(),
  };
}

/** Adds up how long machines live. */
export function countMachines(figures: Figures, clock: Clock, cloud: SimCloud): void {
  const madeMs = new Map<string, number>();
  cloud.onMade(({ machine, isLate }) => {
    figures.launched += 1;
    if (isLate) figures.lateMachines += 1;
    madeMs.set(machine.name, clock.monotonic());
  });
  cloud.onGone(({ machine }, how) => {
    if (how === 'stopped') return;
    figures[how] += 1;
    figures.machineMs += clock.monotonic() - (madeMs.get(machine.name) ?? clock.monotonic());
    madeMs.delete(machine.name);
  });
}

/** How long each accepted session waits for its first start. */
export function countWaits(figures: Figures, clock: Clock) {
  const acceptedMs = new Map<string, number>();
  return {
    accepted(sessions: readonly Session[]): void {
      figures.accepted += sessions.length;
      for (const { id } of sessions) acceptedMs.set(id, clock.monotonic());
    },
    started(session: string): void {
      figures.starts += 1;
      const sinceMs = acceptedMs.get(session);
      // One may start before those who asked have heard that it was accepted.
      if (sinceMs !== undefined) figures.waitsMs.push(clock.monotonic() - sinceMs);
      acceptedMs.delete(session);
    },
    ended: (session: string): void => void acceptedMs.delete(session),
  };
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

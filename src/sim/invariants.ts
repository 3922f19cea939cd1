import type { Clock } from '#core/clock.ts';
import type { EventLog } from './event-log.ts';

/** What must hold at every step, and what must hold once all is quiet again. */
export const INVARIANTS = {
  cap: 'never more machines in the cloud than max_agents',
  'made-once': 'no machine is made twice',
  'busy-kept': 'no busy machine is deleted but at a deadline',
  'foreign-kept': 'what is not ours is never touched',
  'row-last': 'a worker is forgotten only when its machine is gone',
  'one-start': 'no attempt starts twice',
  'one-copy': 'a session starts again only after the machine of its last attempt is gone',
  'one-slot': 'never two sessions in one slot',
  'one-end': 'a session has one final state, and stays in it',
  'whole-output': 'a session that ended by itself has all of its output',
  'same-answer': 'a request that comes again gets the same sessions',
  fifo: 'first in, first out within a priority',
  'durable-first': 'nothing leaves the process before it is durable',
  'idle-kept': 'as many slots idle or on their way as min_idle asks for',
  'no-flapping': 'nothing is launched right after a worker was removed to save money',
  replayed: 'a stored decision, computed again from its inputs, is the same',
  'held-still': 'nothing is launched or removed while frozen or paused',
  'all-ended': 'in the end every accepted session has ended',
  'none-leaked': 'in the end every machine has its worker, and every worker its machine',
  'at-rest': 'in the end every pool idles between its limits',
} as const;

export type Invariant = keyof typeof INVARIANTS;

export interface Break {
  readonly invariant: Invariant;
  readonly atMs: number;
  readonly message: string;
}

export interface Invariants {
  /** Looks once: counts it, and tells of the first break in the world. */
  holds(invariant: Invariant, isKept: boolean, tell: () => string): void;
  readonly firstBreak: Break | undefined;
  readonly looks: Readonly<Record<Invariant, number>>;
}

export function openInvariants(clock: Clock, eventLog: EventLog): Invariants {
  const looks = Object.fromEntries(Object.keys(INVARIANTS).map((name) => [name, 0])) as Record<Invariant, number>;
  let firstBreak: Break | undefined;
  return {
    looks,
    get firstBreak() {
      return firstBreak;
    },
    holds(invariant, isKept, tell) {
      looks[invariant] += 1;
      if (isKept || firstBreak) return;
      firstBreak = { invariant, atMs: clock.monotonic(), message: tell() };
      eventLog.note(`BROKEN ${invariant}`, firstBreak.message);
      eventLog.freeze();
    },
  };
}

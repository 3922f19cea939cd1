// One pool on a clock of its own: events around the planner that decides for real pools. Pure; the same seed, the same answer.
import { HOUR_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Arrival, ForecastDecision, PoolFigures } from '#core/forecast.ts';
import type { Scaling } from '#core/pool.ts';
import { isSameReason, type Reason } from '#core/reason.ts';
import { type Facts, type OfferFact, type Plan, plan } from '../autoscaler/plan.ts';
import { type ModelMachines, openModelMachines } from './model-machines.ts';
import { waitsOf } from './waits.ts';

/** How the machines of one offer come and go; one of each list is drawn for each launch. */
export interface OfferSupply {
  /** From the launch until the agent joins. */
  readonly readyAfterMs: readonly number[];
  /** The share of launches that the cloud refuses, and after which time that is known. */
  readonly refusals?: { readonly share: number; readonly afterMs: number } | undefined;
  /** From the removal until the machine is gone; it costs until then. Absent: at once. */
  readonly goneAfterMs?: readonly number[] | undefined;
}

export interface ModelInput {
  /** The policy, or what it is at a time. */
  readonly scaling: Scaling | ((atMs: number) => Scaling);
  /** When the policy changes next after a time. */
  readonly nextEdge?: ((atMs: number) => number | undefined) | undefined;
  readonly offers: readonly OfferFact[];
  /** In the order of their times. */
  readonly demand: readonly Arrival[];
  /** By the id of the offer. */
  readonly supply: Readonly<Record<string, OfferSupply>>;
  /** Facts that follow from what the pool costs. */
  readonly budgets?: ((now: Spending) => Partial<Facts>) | undefined;
  readonly seed: number;
  /** Absent: from the first session on. */
  readonly fromMs?: number | undefined;
  readonly untilMs: number;
  readonly mostEvents: number;
  /** The workers that the pool keeps without sessions are there at the start, and no launch counts for them. */
  readonly startsAtRest?: boolean | undefined;
  /** Called for each session that gets a slot. */
  readonly placed?: ((atMs: number, waitedMs: number) => void) | undefined;
  /** For comparisons with the policies of others; absent: the planner of real pools. */
  readonly planner?: Planner | undefined;
}

export type Planner = (facts: Facts) => Pick<Plan, 'actions' | 'did' | 'reason' | 'why'> & Partial<Plan>;

/** What the pool costs an hour, and has cost since the start. */
export interface Spending {
  readonly atMs: number;
  readonly dollarsPerHour: number;
  readonly dollars: number;
}

export interface ModelDecision extends ForecastDecision {
  readonly reason: Reason;
}

export interface ModelResult extends PoolFigures {
  readonly removals: number;
  /** Slot hours that sessions took. */
  readonly busyHours: number;
  /** Those that acted, and those whose reason differs from the one before. */
  readonly decisions: readonly ModelDecision[];
  readonly events: number;
}

const NEVER = Number.POSITIVE_INFINITY;

/** Runs the pool from its first session, or `fromMs`, to `untilMs`. */
export function modelPool(input: ModelInput): ModelResult {
  const { demand, untilMs, mostEvents, nextEdge = () => undefined } = input;
  const fromMs = input.fromMs ?? demand[0]?.atMs ?? untilMs;
  const scalingAt = (atMs: number): Scaling =>
    typeof input.scaling === 'function' ? input.scaling(atMs) : input.scaling;
  const machines = openModelMachines(input);
  const queue = openModelQueue(machines, input);
  const decider = openDecider(input, machines);
  const decide = (nowMs: number): void => decider.decide(nowMs, scalingAt(nowMs), queue.length());
  let edgeMs = nextEdge(fromMs) ?? NEVER;
  let [events, arrived] = [0, 0];

  decide(fromMs);
  if (input.startsAtRest) machines.settle(fromMs);
  for (;;) {
    const nowMs = Math.min(machines.nextMs(), demand[arrived]?.atMs ?? NEVER, decider.alarmMs(), edgeMs);
    if (nowMs >= untilMs) break;
    events += 1 + machines.advance(nowMs, scalingAt(nowMs));
    for (let next = demand[arrived]; next && next.atMs <= nowMs; next = demand[++arrived]) queue.accept(next);
    if (edgeMs <= nowMs) edgeMs = nextEdge(nowMs) ?? NEVER;
    queue.place(nowMs);
    decide(nowMs);
    if (events > mostEvents) throw tooMany(mostEvents, nowMs);
  }

  const { machineHours, dollars } = machines.spent(untilMs);
  const { totals, workers } = machines;
  const withoutPrice = workers.filter(({ pricePerHour }) => pricePerHour === undefined).length;
  return {
    ...queue.end(),
    ...{ ...totals, machinesWithoutPrice: totals.machinesWithoutPrice + withoutPrice },
    ...{ machineHours, dollars, decisions: decider.decisions, events },
  };
}

/** First in, first out within a priority. */
function openModelQueue(machines: ModelMachines, { untilMs, placed }: ModelInput) {
  const lanes: { readonly priority: number; readonly waiting: Arrival[]; head: number }[] = [];
  const waitsMs: number[] = [];
  let [length, busyMs] = [0, 0];

  function laneOf(priority: number): (typeof lanes)[number] {
    const found = lanes.find((lane) => lane.priority === priority);
    if (found) return found;
    const lane = { priority, waiting: [], head: 0 };
    lanes.push(lane);
    lanes.sort((a, b) => a.priority - b.priority);
    return lane;
  }

  function take(): Arrival {
    const lane = lanes.find(({ waiting, head }) => head < waiting.length) as (typeof lanes)[number];
    length -= 1;
    return lane.waiting[lane.head++] as Arrival;
  }

  return {
    length: () => length,
    accept(arrival: Arrival): void {
      const { slots = 1, priority = 0 } = arrival;
      const lane = laneOf(priority);
      for (let nth = 0; nth < slots; nth += 1) lane.waiting.push(arrival);
      length += slots;
    },
    place(nowMs: number): void {
      while (machines.freeSlots > 0 && length > 0) {
        const { atMs, lastsMs } = take();
        waitsMs.push(nowMs - atMs);
        placed?.(atMs, nowMs - atMs);
        busyMs += Math.min(lastsMs, untilMs - nowMs);
        machines.seat(nowMs, nowMs + lastsMs);
      }
    },
    end() {
      const placed = waitsMs.length;
      for (const { waiting, head } of lanes) for (const { atMs } of waiting.slice(head)) waitsMs.push(untilMs - atMs);
      const sessions = waitsMs.length;
      return { sessions, unplaced: sessions - placed, waits: waitsOf(waitsMs), busyHours: busyMs / HOUR_MS };
    },
  };
}

/** Asks the planner as a pass over a real pool does, and keeps the decisions that the journal would. */
function openDecider({ planner = plan, budgets }: ModelInput, machines: ModelMachines) {
  const decisions: ModelDecision[] = [];
  let surplusSinceMs: number | undefined;
  let alarmMs = NEVER;
  return {
    decisions,
    alarmMs: () => alarmMs,
    decide(nowMs: number, scaling: Scaling, queued: number): void {
      const { workers, offers } = machines;
      const made = planner({
        ...{ nowMs, scaling, workers, queued, offers, surplusSinceMs },
        ...{ isReady: true, isPaused: false, isFrozen: false, isRemoving: false },
        ...budgets?.({ atMs: nowMs, ...machines.spent(nowMs) }),
      });
      const { actions, did, reason, why, againAfterMs = NEVER } = made;
      surplusSinceMs = made.surplusSinceMs;
      alarmMs = nowMs + Math.max(1, Math.ceil(againAfterMs));
      const last = decisions.at(-1);
      if (actions.length > 0 || last?.did !== did || !isSameReason(last.reason, reason))
        decisions.push({ atMs: nowMs, did, reason, why });
      machines.act(actions, nowMs, scaling.slotsPerAgent);
    },
  };
}

const tooMany = (mostEvents: number, atMs: number): Fault =>
  new Fault('quota', `The model stopped at ${new Date(atMs).toISOString()}, after ${mostEvents} events.`, {
    remedy: 'Ask for a shorter time, or for fewer sessions.',
  });

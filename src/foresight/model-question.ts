// What the model is asked, and what it answers, as data that crosses to its thread.
import { HOUR_MS } from '#core/clock.ts';
import type { Arrival, DecisionDifference } from '#core/forecast.ts';
import { leadTimeOf } from '#core/lead-time.ts';
import type { Scaling } from '#core/pool.ts';
import { seededRandom } from '#core/random.ts';
import { nextEdge, type Schedule, scalingAt } from '#core/schedule.ts';
import type { OfferFact } from '../autoscaler/plan.ts';
import { firstDifference } from './first-difference.ts';
import { type ModelResult, modelPool, type OfferSupply } from './model.ts';

/** One run for each policy, of the same demand in the same stretch of time. */
export interface ModelQuestion {
  readonly demand: PackedDemand | DemandRate;
  readonly policies: readonly [ModelPolicy, ...ModelPolicy[]];
  readonly fromMs: number;
  readonly untilMs: number;
  readonly seed: number;
  /** The workers that a pool keeps without sessions are there at the start, and no launch counts for them. */
  readonly startsAtRest?: boolean | undefined;
  /** Of each run. Absent: as many as end within the time that a run may take. */
  readonly mostEvents?: number | undefined;
}

export interface ModelPolicy {
  readonly scaling: Scaling;
  readonly schedules?: readonly Schedule[] | undefined;
  /** In the order to try them. */
  readonly offers: readonly OfferFact[];
  /** By the id of the offer. */
  readonly supply: Readonly<Record<string, OfferSupply>>;
}

/** Arrivals in the order of their times, four numbers each: when, how long, how many slots, which priority. */
export interface PackedDemand {
  readonly packed: Float64Array<ArrayBuffer>;
}

/** Sessions at random times, so many an hour on average; all last equally long. */
export interface DemandRate {
  readonly perHour: number;
  readonly lastsMs: number;
}

/** The figures of one policy. */
export interface ModelRun extends Omit<ModelResult, 'decisions'> {
  /** Where it first decides otherwise than the first policy. */
  readonly difference?: DecisionDifference | undefined;
}

/** One run for each policy, in their order. */
export type ModelAnswer = readonly ModelRun[];

const NUMBERS_EACH = 4;
const MOST_EVENTS = 20_000_000;

export function packDemand(demand: readonly Arrival[]): PackedDemand {
  const packed = new Float64Array(demand.length * NUMBERS_EACH);
  for (const [at, { atMs, lastsMs, slots = 1, priority = 0 }] of demand.entries())
    packed.set([atMs, lastsMs, slots, priority], at * NUMBERS_EACH);
  return { packed };
}

export function unpackDemand({ packed }: PackedDemand): Arrival[] {
  return Array.from({ length: packed.length / NUMBERS_EACH }, (_, at) => {
    const [atMs = 0, lastsMs = 0, slots, priority] = packed.subarray(at * NUMBERS_EACH, (at + 1) * NUMBERS_EACH);
    return { atMs, lastsMs, slots, priority };
  });
}

/** Sessions that come independently of each other; the same seed, the same times. */
export function demandAtRate(
  { perHour, lastsMs }: DemandRate,
  { fromMs, untilMs, seed }: Pick<ModelQuestion, 'fromMs' | 'untilMs' | 'seed'>,
): Arrival[] {
  const random = seededRandom(seed);
  const demand: Arrival[] = [];
  let atMs = fromMs;
  for (;;) {
    atMs += (-Math.log(1 - random.next()) * HOUR_MS) / perHour;
    if (!(atMs < untilMs)) return demand;
    demand.push({ atMs: Math.round(atMs), lastsMs });
  }
}

/** Pure; the same question, the same answer. */
export function answerQuestion(question: ModelQuestion): ModelAnswer {
  const { demand: asked, policies, mostEvents = MOST_EVENTS, ...stretch } = question;
  const demand = 'packed' in asked ? unpackDemand(asked) : demandAtRate(asked, question);
  const results = policies.map(({ scaling, schedules, offers, supply }) => {
    const leadMs = leadTimeOf(offers.flatMap(({ id }) => supply[id]?.readyAfterMs ?? []));
    return modelPool({
      ...{ ...stretch, mostEvents, offers, supply, demand },
      scaling: (atMs) => scalingAt({ scaling, schedules }, atMs, leadMs).scaling,
      nextEdge: (atMs) => nextEdge({ scaling, schedules }, atMs, leadMs),
    });
  });
  return results.map(({ decisions, ...figures }) => {
    const difference = firstDifference(results[0]?.decisions ?? [], decisions);
    return difference ? { ...figures, difference } : figures;
  });
}

// What a pool costs an hour before and after a change: at rest, expected, and at most. Never one number alone.
import { DAY_MS, HOUR_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Forecasts } from '#core/forecast.ts';
import type { Pool } from '#core/pool.ts';
import { leastWorkers } from '#core/pool-counts.ts';
import type { PlannedPool } from '../../pools/pools.ts';
import type { Foreseen } from '../../workers/facts.ts';
import type { ApiDeps } from '../deps.ts';
import type * as wire from '../wire/plan.ts';

type Offers = Foreseen['offers'];

const rounded = (dollars: number): number => Math.round(dollars * 1e4) / 1e4;

/** So many machines of these offers, each within its own limit, the first ones first. */
function dollarsOf(offers: Offers, count: number): number {
  let left = count;
  let dollars = 0;
  for (const { pricePerHour = 0, maxAgents = Number.POSITIVE_INFINITY } of offers) {
    const taken = Math.min(left, maxAgents);
    dollars += taken * pricePerHour;
    left -= taken;
  }
  return dollars;
}

/** The minimum and the idle slots, from the first backends that have room, within the limits in dollars. */
const atRest = (pool: Pool, offers: Offers, perHour: number): number =>
  Math.min(dollarsOf(offers, leastWorkers(pool.spec.scaling)), atMost(pool, offers, perHour));

/** All machines that a window may have, of the dearest backends, within the limits in dollars. */
function atMost({ spec }: Pool, offers: Offers, perHour: number): number {
  const { scaling, schedules = [] } = spec;
  const most = Math.max(scaling.maxAgents, ...schedules.map(({ maxAgents = 0 }) => maxAgents));
  const dearest = offers.toSorted((a, b) => (b.pricePerHour ?? 0) - (a.pricePerHour ?? 0));
  return Math.min(dollarsOf(dearest, most), scaling.maxPricePerHour ?? Number.POSITIVE_INFINITY, perHour);
}

const MODEL_SINCE_MS = 7 * DAY_MS;

export interface ExpectedBy {
  readonly forecasts: Forecasts;
  readonly token: string;
  readonly signal: AbortSignal;
  readonly now: number;
}

/** By the sessions of the last seven days, in the model; undefined: nothing is known of any. */
async function expectedOf(pool: Pool, { forecasts, now, ...caller }: ExpectedBy): Promise<number> {
  const question = { pool, demand: { sinceMs: now - MODEL_SINCE_MS }, seed: 1 };
  const { today, fromMs, untilMs } = await forecasts.forecast(question, caller);
  return today.dollars / Math.max(1, (untilMs - fromMs) / HOUR_MS);
}

export async function expectedDollars(
  { before, after, change }: PlannedPool,
  by: ExpectedBy,
): Promise<{ readonly range?: wire.DollarRange; readonly note?: string }> {
  if (!before) return { note: 'Nothing is expected: the pool has no sessions yet.' };
  try {
    const was = await expectedOf(before, by);
    const then =
      change === 'remove' ? 0 : await expectedOf({ ...after, id: before.id, createdAt: before.createdAt }, by);
    return { range: { before: rounded(was), after: rounded(then) } };
  } catch (thrown) {
    const { kind, message } = Fault.from(thrown);
    if (kind === 'internal') throw thrown;
    return { note: `Nothing is expected: ${message}` };
  }
}

export type DollarDeps = Pick<ApiDeps, 'workers' | 'features'>;

/** Nothing for manual pools: their machines are not ours to pay. */
export function plannedDollars(
  { workers, features }: DollarDeps,
  { before, after, change }: PlannedPool,
  { offers }: Pick<Foreseen, 'offers'>,
): Omit<wire.PlannedDollars, 'expected'> | undefined {
  const isGone = change === 'remove';
  if (offers.length === 0 && !before?.spec.offers.length) return undefined;
  const offersBefore = before ? workers.foresee(before).offers : [];
  const hourOf = (pool: Pool): number =>
    Math.min(...(features.budgets?.roomFor(pool) ?? []).map(({ perHour = Number.POSITIVE_INFINITY }) => perHour));
  const unpriced = offers.filter(({ pricePerHour }) => pricePerHour === undefined).length;
  const lacking = `${unpriced} of ${offers.length} backends have no price: the dollars are without their machines.`;
  return {
    at_rest: {
      before: before && rounded(atRest(before, offersBefore, hourOf(before))),
      after: isGone ? 0 : rounded(atRest(after, offers, hourOf(after))),
    },
    at_most: {
      before: before && rounded(atMost(before, offersBefore, hourOf(before))),
      after: isGone ? 0 : rounded(atMost(after, offers, hourOf(after))),
    },
    notes: unpriced > 0 && !isGone ? [lacking] : [],
  };
}

// A simulated pool with a wait target, over weeks of demand: what is chosen, what that costs, and which hours meet it.
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import type { Arrival } from '#core/forecast.ts';
import type { Scaling, WaitTarget } from '#core/pool.ts';
import { seededRandom } from '#core/random.ts';
import { someScaling } from '#core/testing/pool.ts';
import { withChosenIdle } from '#core/wait-target.ts';
import {
  type AskedIdle,
  CHOOSE_EVERY_MS,
  chooseIdle,
  nextIdle,
  stillRemembered,
  stretchesAround,
} from '../idle-choice.ts';
import { modelPool } from '../model.ts';
import { answerQuestion, type ModelPolicy } from '../model-question.ts';
import type { Stretch } from '../past.ts';
import { shareOf } from '../waits.ts';

/** A Monday; four weeks of history lie before the time that is looked at. */
const HISTORY_MS = Date.UTC(2026, 9, 5);
export const START_MS = HISTORY_MS + 28 * DAY_MS;

export const TARGET: WaitTarget = { p95Ms: 5 * SECOND_MS, maxIdleSlots: 40 };
const READY_MS = [100, 110, 120, 130].map((seconds) => seconds * SECOND_MS);
const POLICY: ModelPolicy = {
  scaling: someScaling({ maxAgents: 200, maxIdleSlots: 10, idleDecayMs: 5 * MINUTE_MS }),
  offers: [{ id: 'a', pricePerHour: 1 }],
  supply: { a: { readyAfterMs: READY_MS, goneAfterMs: [10 * SECOND_MS] } },
};

/** Sessions that come independently of each other, so many an hour as it says of the hour. */
export function someDemand(
  perHourAt: (hourMs: number) => number,
  {
    seed,
    untilMs,
    lastsMs = 6 * MINUTE_MS,
  }: { readonly seed: number; readonly untilMs: number; readonly lastsMs?: number },
): readonly Arrival[] {
  const random = seededRandom(seed);
  const after = (meanMs: number): number => Math.round(-Math.log(1 - random.next()) * meanMs);
  const demand: Arrival[] = [];
  for (let hourMs = HISTORY_MS; hourMs < untilMs; hourMs += HOUR_MS) {
    const perHour = perHourAt(hourMs);
    if (perHour === 0) continue;
    for (let atMs = hourMs + after(HOUR_MS / perHour); atMs < hourMs + HOUR_MS; atMs += after(HOUR_MS / perHour))
      demand.push({ atMs, lastsMs: SECOND_MS + after(lastsMs) });
  }
  return demand;
}

/** One session after the other, at even distances. */
export function evenDemand(everyMs: number, untilMs: number): readonly Arrival[] {
  const count = Math.floor((untilMs - HISTORY_MS) / everyMs);
  return Array.from({ length: count }, (_, at) => ({ atMs: HISTORY_MS + at * everyMs, lastsMs: 4 * MINUTE_MS }));
}

/** In UTC; the history begins on a Monday. */
export const hourOfDay = (ms: number): number => Math.floor((ms % DAY_MS) / HOUR_MS);
export const isWeekday = (ms: number): boolean => Math.floor((ms - HISTORY_MS) / DAY_MS) % 7 < 5;

const isIn =
  ({ fromMs, untilMs }: Stretch) =>
  ({ atMs }: Arrival): boolean =>
    atMs >= fromMs && atMs < untilMs;

/** What is chosen from time to time, as the server chooses it, by what lies before each choice. */
export async function chosenOver(
  demand: readonly Arrival[],
  { fromMs, untilMs }: Stretch,
  target: WaitTarget = TARGET,
): Promise<readonly AskedIdle[]> {
  const chosen: AskedIdle[] = [];
  let asked: readonly AskedIdle[] = [];
  let kept: { idleSlots: number; at: number } | undefined;
  for (let nowMs = fromMs; nowMs < untilMs; nowMs += CHOOSE_EVERY_MS) {
    const stretches = stretchesAround(nowMs).map((each) => ({ ...each, demand: demand.filter(isIn(each)) }));
    const choice = await chooseIdle({
      ...{ target, policy: POLICY, stretches, first: kept?.idleSlots ?? 0 },
      run: async (question) => answerQuestion(question()),
    });
    asked = [...stillRemembered(asked, nowMs), { atMs: nowMs, idleSlots: choice.idleSlots }];
    const idleSlots = nextIdle(kept, asked, { nowMs, slotsPerAgent: 1 });
    if (idleSlots !== kept?.idleSlots) kept = { idleSlots, at: nowMs };
    chosen.push({ atMs: nowMs, idleSlots });
  }
  return chosen;
}

export interface TargetedRun {
  readonly dollars: number;
  /** Of the hours with sessions. */
  readonly metShare: number;
}

/** What a number of idle slots costs, and which share of the hours it meets the target in. */
export function runWith(
  idle: number | readonly AskedIdle[],
  demand: readonly Arrival[],
  { fromMs, untilMs }: Stretch,
): TargetedRun {
  const hours = new Map<number, number[]>();
  const { dollars } = modelPool({
    ...{ ...POLICY, ...scalingBy(idle), demand: demand.filter(isIn({ fromMs, untilMs })) },
    ...{ seed: 5, fromMs, untilMs, mostEvents: 10_000_000, startsAtRest: true },
    placed(atMs, waitedMs) {
      const hour = Math.floor(atMs / HOUR_MS);
      hours.set(hour, [...(hours.get(hour) ?? []), waitedMs]);
    },
  });
  const met = [...hours.values()].filter((waits) => {
    const sorted = waits.toSorted((a, b) => a - b);
    return shareOf(sorted, 0.95) <= TARGET.p95Ms;
  });
  return { dollars, metShare: met.length / hours.size };
}

function scalingBy(idle: number | readonly AskedIdle[]) {
  const of = (idleSlots: number): Scaling =>
    withChosenIdle({ scaling: POLICY.scaling }, TARGET, { id: '', at: 0, why: '', idleSlots }).scaling;
  if (typeof idle === 'number') return { scaling: of(idle) };
  return {
    scaling: (atMs: number) => of(idle.findLast((each) => each.atMs <= atMs)?.idleSlots ?? 0),
    nextEdge: (atMs: number) => idle.find((each) => each.atMs > atMs)?.atMs,
  };
}

/** The cheapest number of idle slots that never changes and meets the target in 95 of 100 hours. */
export function cheapestStatic(demand: readonly Arrival[], stretch: Stretch): TargetedRun {
  for (let idle = 0; idle <= TARGET.maxIdleSlots; idle += 1) {
    const run = runWith(idle, demand, stretch);
    if (run.metShare >= 0.95) return run;
  }
  throw new Error('No number of idle slots meets the target.');
}

/** How often it goes up again after it went down, or down after it went up. */
export function turnsOf(chosen: readonly AskedIdle[]): number {
  const ways = chosen.slice(1).map(({ idleSlots }, at) => Math.sign(idleSlots - (chosen[at]?.idleSlots ?? 0)));
  const moved = ways.filter((way) => way !== 0);
  return moved.slice(1).filter((way, at) => way !== moved[at]).length;
}

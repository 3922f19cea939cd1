// How many slots a pool must keep idle for its wait target: the least with which the model meets it.
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#core/clock.ts';
import type { Arrival } from '#core/forecast.ts';
import type { WaitTarget } from '#core/pool.ts';
import { seededRandom } from '#core/random.ts';
import { withChosenIdle } from '#core/wait-target.ts';
import { type ModelAnswer, type ModelPolicy, type ModelQuestion, packDemand } from './model-question.ts';
import type { Stretch } from './past.ts';
import { shareOf } from './waits.ts';

const STRETCH_MS = HOUR_MS;
const WEEKS = 4;
// Sessions at the end of an hour may wait for a machine, too.
const TAIL_MS = 20 * MINUTE_MS;
const SEED = 1;
const MOST_EVENTS = 1_000_000;
// An hour is one throw of the dice: in others that are as likely, more sessions come at once.
const COPIES = 3;
const APART_MS = MINUTE_MS;
// Of the hours and their copies, this share meets the target; what is kept for an hour afterwards adds to that.
const SHARE_MET = 0.8;
// Five hours say little of how much larger the burst of another one may be: where many slots are needed, this share more.
const HEADROOM = 1 / 8;

/** The hour that is over, and the hour to come as it was in each of the last four weeks. */
export function stretchesAround(nowMs: number): readonly Stretch[] {
  const weeks = Array.from({ length: WEEKS }, (_, at) => {
    const fromMs = nowMs - 7 * DAY_MS * (at + 1);
    return { fromMs, untilMs: fromMs + STRETCH_MS };
  });
  return [{ fromMs: nowMs - STRETCH_MS, untilMs: nowMs }, ...weeks];
}

/** A time, and the sessions that came in it. */
export type Demanded = Stretch & { readonly demand: readonly Arrival[] };

/** The hour as it was, and as it might have been: the same sessions, each a little earlier or later. */
function* likely(stretch: Demanded): Iterable<Demanded> {
  yield stretch;
  for (let copy = 0; copy < COPIES; copy += 1) {
    const demand = stretch.demand.map((arrival) => ({ ...arrival, atMs: moved(arrival.atMs, copy, stretch.fromMs) }));
    yield { ...stretch, demand: demand.toSorted((a, b) => a.atMs - b.atMs) };
  }
}

/** By its time alone: in the next choice, which has nearly the same sessions, it is moved in the same way. */
function moved(atMs: number, copy: number, leastMs: number): number {
  const share = seededRandom(atMs + copy).next();
  return Math.max(leastMs, Math.round(atMs + (2 * share - 1) * APART_MS));
}

export interface IdleInput {
  readonly target: WaitTarget;
  readonly policy: ModelPolicy;
  readonly stretches: readonly Demanded[];
  /** To try first: the next choice is mostly near the last. */
  readonly first: number;
  /** Asks the model; it may take its turn in a thread. */
  run(question: () => ModelQuestion): Promise<ModelAnswer>;
}

export interface IdleChoice {
  readonly idleSlots: number;
  /** Whether the target is met with them. */
  readonly isMet: boolean;
  /** From so many sessions. */
  readonly sessions: number;
}

export async function chooseIdle({ target, policy, stretches, first, run }: IdleInput): Promise<IdleChoice> {
  const used = stretches.filter(({ demand }) => demand.length > 0);
  const sessions = used.reduce((sum, { demand }) => sum + demand.length, 0);
  const { maxAgents, slotsPerAgent } = policy.scaling;
  const most = Math.min(target.maxIdleSlots, maxAgents * slotsPerAgent);
  const meets = async ({ demand, fromMs, untilMs }: Demanded, idleSlots: number): Promise<boolean> => {
    const { scaling } = withChosenIdle({ scaling: policy.scaling }, target, { id: '', at: 0, why: '', idleSlots });
    const [answer] = await run(() => ({
      ...{ fromMs, untilMs: untilMs + TAIL_MS, demand: packDemand(demand), policies: [{ ...policy, scaling }] },
      ...{ seed: SEED, startsAtRest: true, mostEvents: MOST_EVENTS },
    }));
    return answer !== undefined && answer.waits.p95Ms <= target.p95Ms;
  };
  const needed: number[] = [];
  let guess = Math.min(first, most);
  for (const stretch of used)
    for (const hour of likely(stretch)) {
      const count = await least((idleSlots) => meets(hour, idleSlots), guess, most);
      needed.push(count ?? Number.POSITIVE_INFINITY);
      guess = count ?? most;
    }
  const usual = shareOf(
    needed.toSorted((a, b) => a - b),
    SHARE_MET,
  );
  const idleSlots = Math.min(usual + Math.floor(usual * HEADROOM), most);
  return { idleSlots, isMet: usual <= most, sessions };
}

/** The least number from 0 to `most` that does: found in few tries where it is near the first one tried. */
async function least(
  does: (count: number) => Promise<boolean>,
  first: number,
  most: number,
): Promise<number | undefined> {
  let [fails, holds] = [-1, most + 1];
  const isFirstEnough = await does(first);
  if (isFirstEnough) holds = first;
  else fails = first;
  for (let step = 1; holds - fails > 1; step *= 2) {
    const away = isFirstEnough ? first - step : first + step;
    const isWithin = away > fails && away < holds;
    const next = isWithin ? away : Math.floor((fails + holds) / 2);
    if (await does(next)) holds = next;
    else fails = next;
  }
  return holds > most ? undefined : holds;
}

export const CHOOSE_EVERY_MS = 5 * MINUTE_MS;
const LOWER_EVERY_MS = 10 * MINUTE_MS;
const REMEMBERED_MS = HOUR_MS;

/** A choice of the last hour. */
export interface AskedIdle {
  readonly atMs: number;
  readonly idleSlots: number;
}

export const stillRemembered = (asked: readonly AskedIdle[], nowMs: number): readonly AskedIdle[] =>
  asked.filter(({ atMs }) => atMs >= nowMs - REMEMBERED_MS);

/**
 * More at once. Fewer by one worker in ten minutes, and only what nothing in an hour has asked for: one quiet hour in a
 * busy day must not take away what the next needs again.
 */
export function nextIdle(
  before: { readonly idleSlots: number; readonly at: number } | undefined,
  asked: readonly AskedIdle[],
  { nowMs, slotsPerAgent }: { readonly nowMs: number; readonly slotsPerAgent: number },
): number {
  const wanted = asked.at(-1)?.idleSlots ?? 0;
  if (!before || wanted >= before.idleSlots) return wanted;
  const hasSeenAnHour = (asked[0]?.atMs ?? nowMs) <= nowMs - REMEMBERED_MS + CHOOSE_EVERY_MS;
  if (!hasSeenAnHour || nowMs - before.at < LOWER_EVERY_MS) return before.idleSlots;
  const largest = Math.max(...asked.map(({ idleSlots }) => idleSlots));
  return Math.max(Math.min(largest, before.idleSlots), before.idleSlots - slotsPerAgent);
}

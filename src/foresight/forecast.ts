// Today's policy of a pool beside another one, in the model, over one demand.
import type { Clouds } from '#clouds/clouds.ts';
import type { KnownKinds } from '#config/kinds.ts';
import { formatDuration } from '#core/duration.ts';
import { Fault } from '#core/fault.ts';
import type { Forecast, ForecastQuestion, Forecasts, SizePolicy } from '#core/forecast.ts';
import type { PoolSpec, Scaling } from '#core/pool.ts';
import type { OfferFact } from '../autoscaler/plan.ts';
import { changedPolicy } from './changed-policy.ts';
import { type DemandDeps, demandFor, type PoolDemand } from './forecast-demand.ts';
import { ASSUMED_READY_MS } from './model-machines.ts';
import type { ModelAnswer, ModelPolicy, ModelQuestion } from './model-question.ts';
import type { AskedBy, ModelThread } from './model-turns.ts';
import type { PastMachine } from './past.ts';
import { offersNow, supplyFrom, withReportedSlots } from './pool-model.ts';
import { truthOf } from './truth.ts';

export interface ForecastDeps extends DemandDeps {
  readonly clouds: Pick<Clouds, 'priceOf'>;
  readonly kinds: Pick<KnownKinds, 'backends'>;
  readonly model: ModelThread;
}

/** A question whose other policy has been read. */
export interface ReadQuestion extends Pick<ForecastQuestion, 'pool' | 'demand' | 'seed'> {
  readonly compared: ComparedPolicies;
}

/** A run in its turn; without a token it is the server's own. */
export async function forecastIn(
  deps: ForecastDeps,
  { pool, demand, seed, compared }: ReadQuestion,
  by: AskedBy,
): Promise<Forecast> {
  const { store, clouds, model } = deps;
  const offers = offersNow(pool, clouds);
  const slots = (scaling: Scaling): Scaling => withReportedSlots(store, pool, scaling);
  const { promise: found, resolve } = Promise.withResolvers<PoolDemand>();
  const answer = await model.run(async (signal) => {
    const read = await demandFor(deps, pool, { demand, signal });
    resolve(read);
    return questionOf(compared, { ...read, offers, slots, seed });
  }, by);
  return answerOf(answer, { ...(await found), ...compared, offers, seed });
}

export function openForecasts(deps: ForecastDeps): Pick<Forecasts, 'forecast'> {
  return {
    async forecast({ set, ...question }, caller) {
      const { spec } = question.pool;
      mustScale(spec);
      // What is wrong with the other policy is said before anything waits for its turn.
      return forecastIn(deps, { ...question, compared: comparedPolicies(spec, set, deps.kinds) }, caller);
    },
  };
}

/** The policy of a pool, and the other one where there is one. */
export interface ComparedPolicies {
  readonly policies: readonly [SizePolicy, ...SizePolicy[]];
  readonly warnings: readonly string[];
}

export function comparedPolicies(
  spec: PoolSpec,
  set: ForecastQuestion['set'],
  kinds: Pick<KnownKinds, 'backends'>,
): ComparedPolicies {
  const changed = set && changedPolicy(spec, set, kinds);
  return { policies: changed ? [spec, changed] : [spec], warnings: changed?.warnings ?? [] };
}

interface Asked extends PoolDemand {
  readonly offers: readonly OfferFact[];
  readonly seed: number;
}

export function questionOf(
  { policies: [today, ...others] }: ComparedPolicies,
  { fromMs, untilMs, demand, machines, offers, slots, seed }: Asked & { readonly slots: (scaling: Scaling) => Scaling },
): ModelQuestion {
  const supply = supplyFrom(offers, machines);
  const policyOf = ({ scaling, schedules }: SizePolicy): ModelPolicy => {
    return { scaling: slots(scaling), schedules, offers, supply };
  };
  const policies = [policyOf(today), ...others.map(policyOf)] as const;
  return { demand, fromMs, untilMs, seed, startsAtRest: true, policies };
}

export function answerOf(
  [today, other]: ModelAnswer,
  { fromMs, untilMs, past, notes, seed, warnings, policies, offers, machines }: Asked & ComparedPolicies,
): Forecast {
  if (!today) throw new Fault('internal', 'The model answered nothing.');
  return {
    ...{ fromMs, untilMs, sessions: today.sessions, seed, today },
    recorded: past && truthOf(past),
    other: other && { ...other, warnings },
    notes: [...notes, ...notesOn(offers, machines), ...(policies.some(hasTarget) ? [WITHOUT_TARGET] : [])],
  };
}

const hasTarget = ({ waitTarget }: SizePolicy): boolean => waitTarget !== undefined;
const WITHOUT_TARGET = 'wait_target is not in the model: the idle slots are those of min_idle_agents.';

function notesOn(offers: readonly OfferFact[], machines: readonly PastMachine[]): string[] {
  const unpriced = offers.filter(({ pricePerHour }) => pricePerHour === undefined).length;
  const isMeasured = machines.some(({ joinedAt }) => joinedAt !== undefined);
  const assumed = `How long a machine takes is not known: each is taken to be ready after ${formatDuration(ASSUMED_READY_MS)}.`;
  const prices = `${unpriced} of ${offers.length} backends have no price: the dollars are without their machines.`;
  return [...(isMeasured ? [] : [assumed]), ...(unpriced > 0 ? [prices] : [])];
}

export function mustScale({ name, offers }: PoolSpec): void {
  if (offers.length > 0) return;
  throw new Fault('invalid', `Pool ${name} is manual: its agents join by themselves, so no policy decides its size.`, {
    at: 'pool',
    remedy: 'Name a pool with a backend.',
  });
}

import type { z } from 'zod';
import { DAY_MS, SECOND_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { ForecastDemand, Forecasts, GivenDemand } from '#core/forecast.ts';
import type { ApiDeps } from './deps.ts';
import type { Noun } from './noun.ts';
import { findPool } from './pools.ts';
import { type Route, route } from './route.ts';
import { shownForecast } from './shown/forecast.ts';
import * as wire from './wire/forecast.ts';
import { sinceMsOf } from './wire/shared.ts';

// A trace of as many sessions as one may have.
const BODY_LIMIT = 8 * 2 ** 20;
const MOST_VALUES = 5 * wire.MOST_TRACED;
const USUAL_SINCE_MS = 7 * DAY_MS;

function forecastsOf({ features }: ApiDeps): Forecasts {
  if (features.foresight) return features.foresight;
  throw new Fault('unsupported', 'This server makes no forecasts.');
}

type Body = z.output<typeof wire.ForecastIn>;

/** A demand that is not that of the pool itself. */
export function givenIn({ rate, trace = [] }: Pick<Body, 'rate' | 'trace'>): GivenDemand {
  if (rate) return { perHour: rate.per_hour, lastsMs: rate.lasting, forMs: rate.for };
  const arrivals = trace.map(({ submitted, seconds, slots }) => {
    return { atMs: submitted * SECOND_MS, lastsMs: seconds * SECOND_MS, slots };
  });
  return { arrivals };
}

function demandIn(body: Body, { clock }: ApiDeps): ForecastDemand {
  if (body.rate || body.trace) return givenIn(body);
  return { sinceMs: body.since ? sinceMsOf(body.since, clock) : clock.now() - USUAL_SINCE_MS };
}

function forecastRoutes(deps: ApiDeps): Route[] {
  return [
    route({
      method: 'POST',
      path: '/forecasts',
      role: 'viewer',
      summary:
        'Runs a pool in a model: today’s policy beside another one, over its own demand or over any other. Changes nothing.',
      body: wire.ForecastIn,
      bodyLimit: BODY_LIMIT,
      mostValues: MOST_VALUES,
      reply: wire.Forecast,
      async handle({ body, caller, signal }) {
        const pool = findPool(deps.store, body.pool);
        const { set, seed } = body;
        const question = { pool, set, seed, demand: demandIn(body, deps) };
        const forecast = await forecastsOf(deps).forecast(question, { token: caller.token, signal });
        return shownForecast(pool.name, set ?? {}, forecast);
      },
    }),
  ];
}

export const noun: Noun = { tag: 'pools', order: 25, routes: forecastRoutes };

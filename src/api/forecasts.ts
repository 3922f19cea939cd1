import { z } from 'zod';
import { DAY_MS, SECOND_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { ForecastDemand, Forecasts, GivenDemand } from '#core/forecast.ts';
import type { ApiDeps } from './deps.ts';
import type { Noun } from './noun.ts';
import { findPool } from './pools.ts';
import { type Route, route } from './route.ts';
import { shownForecast, shownShadow } from './shown/forecast.ts';
import * as wire from './wire/forecast.ts';
import { Empty, Name, sinceMsOf } from './wire/shared.ts';

// A trace of as many sessions as one may have.
const BODY_LIMIT = 8 * 2 ** 20;
const MOST_VALUES = 5 * wire.MOST_TRACED;
// Its policy is read at once.
const SHADOW_LIMIT = 64 * 2 ** 10;
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
        return shownForecast(pool.name, set, forecast);
      },
    }),
  ];
}

const params = z.object({ pool: Name });

function shadowRoutes(deps: ApiDeps): Route[] {
  const { store } = deps;
  return [
    route({
      method: 'GET',
      path: '/pools/:pool/shadow',
      role: 'viewer',
      summary: 'Shows the other policy that is computed beside that of a pool.',
      params,
      reply: wire.Shadow,
      handle({ params }) {
        const { id, name } = findPool(store, params.pool);
        const state = forecastsOf(deps).shadowOf(id);
        if (state) return shownShadow(name, state);
        throw new Fault('missing', `Pool ${name} has no shadow.`, {
          at: 'path.pool',
          remedy: 'Set one with `muster pool shadow POOL FILE`.',
        });
      },
    }),
    route({
      method: 'PUT',
      path: '/pools/:pool/shadow',
      role: 'operator',
      summary: 'Computes the policy of a pool document beside that of the pool from now on. It decides nothing.',
      params,
      body: z.string().min(1).meta({ description: 'A pool document, as in the configuration.' }),
      bodyMedia: ['application/json', 'application/yaml'],
      bodyLimit: SHADOW_LIMIT,
      reply: wire.Shadow,
      async handle({ params, body, caller }) {
        const pool = findPool(store, params.pool);
        return shownShadow(pool.name, await forecastsOf(deps).setShadow(pool, body, caller));
      },
    }),
    route({
      method: 'DELETE',
      path: '/pools/:pool/shadow',
      role: 'operator',
      summary: 'Ends the shadow of a pool.',
      params,
      reply: Empty,
      status: 204,
      async handle({ params, caller }) {
        await forecastsOf(deps).dropShadow(findPool(store, params.pool), caller);
        return undefined;
      },
    }),
  ];
}

export const noun: Noun = {
  tag: 'pools',
  order: 25,
  routes: (deps) => [...forecastRoutes(deps), ...shadowRoutes(deps)],
};

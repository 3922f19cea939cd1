import { z } from 'zod';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { FLEET } from '#core/worker.ts';
import type { ApiDeps } from './deps.ts';
import type { Noun } from './noun.ts';
import { findPool } from './pools.ts';
import { type Route, route } from './route.ts';
import { Series } from './wire/series.ts';
import { Name, Since, sinceMsOf, spanIn, toTime } from './wire/shared.ts';

const STEPS = [1, 5, 15, 60, 360, 1_440].map((minutes) => minutes * MINUTE_MS);
const USUAL_POINTS = 200;
const MOST_POINTS = 2_000;
const LONGEST_MS = 80 * DAY_MS;

const query = z.strictObject({
  since: Since.optional().meta({
    description: 'From then on: a time, or a duration back from now; by default the last hour.',
    examples: ['24h', '2026-01-01T12:00:00Z'],
  }),
  step: spanIn(LONGEST_MS).optional().meta({
    description: 'The time between two points, at least a minute; by default what gives at most 200 of them.',
  }),
});

/** What is asked for, or why it cannot be had. */
function rangeOf({ clock }: ApiDeps, { since: from, step }: z.output<typeof query>) {
  const since = from === undefined ? clock.now() - HOUR_MS : sinceMsOf(from, clock);
  const longMs = clock.now() - since;
  if (longMs > LONGEST_MS) {
    throw new Fault('invalid', 'query.since: Charts reach back 80 days at most.', {
      at: 'query.since',
      remedy: 'Ask for less, for example `since=30d`.',
    });
  }
  const usual = STEPS.find((ms) => longMs / ms <= USUAL_POINTS) ?? DAY_MS;
  const stepMs = step ?? usual;
  if (stepMs < MINUTE_MS || longMs / stepMs > MOST_POINTS) {
    throw new Fault('invalid', `query.step: Must be a minute or more, and give at most ${MOST_POINTS} points.`, {
      at: 'query.step',
      remedy: 'Leave it out, or give a longer one.',
    });
  }
  return { since, stepMs };
}

async function seriesOf(deps: ApiDeps, pool: string, asked: z.output<typeof query>): Promise<Series> {
  const range = rangeOf(deps, asked);
  const points = await deps.series.of(pool, range);
  return { step_ms: range.stepMs, points: points.map((point) => ({ ...point, at: toTime(point.at) })) };
}

function seriesRoutes(deps: ApiDeps): Route[] {
  return [
    route({
      method: 'GET',
      path: '/pools/:pool/series',
      role: 'viewer',
      summary: 'Demand and capacity of a pool over time, by the minute or in longer steps.',
      params: z.object({ pool: Name }),
      query,
      reply: Series,
      handle: ({ params, query }) => seriesOf(deps, findPool(deps.store, params.pool).id, query),
    }),
    route({
      method: 'GET',
      path: '/series',
      role: 'viewer',
      summary: 'Demand and capacity of all pools together over time.',
      query,
      reply: Series,
      handle: ({ query }) => seriesOf(deps, FLEET, query),
    }),
  ];
}

export const noun: Noun = { tag: 'series', order: 68, routes: seriesRoutes };

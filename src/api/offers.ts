import { z } from 'zod';
import { DAY_MS, SECOND_MS } from '#core/clock.ts';
import { formatDuration } from '#core/duration.ts';
import { openOneAtATime } from '#core/one-at-a-time.ts';
import { type OfferRecord, recordsOfOffers } from '../foresight/offer-records.ts';
import type { ApiDeps } from './deps.ts';
import type { Noun } from './noun.ts';
import { findPool } from './pools.ts';
import { type Route, route } from './route.ts';
import * as wire from './wire/offer.ts';
import { Name, Since, sinceMsOf, toTime } from './wire/shared.ts';

const USUAL_SINCE_MS = 7 * DAY_MS;

function offerRoutes(deps: ApiDeps): Route[] {
  const { store, clock } = deps;
  // Each piece of the work holds others up for a slice: many side by side would do so for a slice each.
  const turns = openOneAtATime();
  return [
    route({
      method: 'GET',
      path: '/offers',
      role: 'viewer',
      summary: 'Lists the offers of pools and what became of their launches, the most used first.',
      query: z.strictObject({
        pool: Name.optional().meta({ description: 'Only those of this pool.' }),
        since: Since.optional().meta({
          description: 'Counts launches from then on: a time, or a duration back from now; by default seven days.',
        }),
      }),
      reply: wire.OfferList,
      async handle({ query, signal }) {
        const pool = query.pool === undefined ? undefined : findPool(store, query.pool);
        const sinceMs = query.since ? sinceMsOf(query.since, clock) : clock.now() - USUAL_SINCE_MS;
        const found = await turns.take('offers', () => {
          signal.throwIfAborted();
          return recordsOfOffers(deps, { sinceMs });
        });
        const ids = pool && new Set(pool.spec.offers.map(({ id }) => id));
        const items = found.offers.filter(({ id }) => !ids || ids.has(id));
        return { since: toTime(found.sinceMs), items: items.map(shownOffer) };
      },
    }),
  ];
}

const inSeconds = (ms: number): string => formatDuration(Math.round(ms / SECOND_MS) * SECOND_MS);

function shownOffer(record: OfferRecord): wire.Offer {
  const { id, kind, pools, launches, starting, refused, neverReady, ready, pricePerHour } = record;
  return {
    ...{ id, kind, pools: [...pools], launches, starting, refused: { ...refused }, never_ready: neverReady },
    ready_p50: ready && inSeconds(ready.p50Ms),
    ready_p95: ready && inSeconds(ready.p95Ms),
    price_per_hour: pricePerHour,
  };
}

export const noun: Noun = { tag: 'offers', order: 57, routes: offerRoutes };

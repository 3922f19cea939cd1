import { z } from 'zod';
import { Fault } from '#core/fault.ts';
import type { EventRow } from '#core/journal.ts';
import type { ApiDeps } from './deps.ts';
import type { ChangeTable, Noun } from './noun.ts';
import { findPool } from './pools.ts';
import { type Route, route } from './route.ts';
import { shownEvent } from './shown/event.ts';
import * as wire from './wire/event.ts';
import { bySubject, Name, paging } from './wire/shared.ts';

function eventRoutes({ store }: ApiDeps): Route[] {
  return [
    route({
      method: 'GET',
      path: '/events/:event',
      role: 'viewer',
      summary: 'Shows one event.',
      params: z.object({ event: Name }),
      reply: wire.Event,
      async handle({ params }) {
        const [row] = await store.history.events({ id: params.event }, { limit: 1, order: 'newest first' });
        if (row) return shownEvent(row, store);
        throw new Fault('missing', `There is no event ${params.event}.`, {
          at: 'path.event',
          remedy: 'It may be older than `retention.events` keeps them. `muster event ls` lists those that are kept.',
        });
      },
    }),
    route({
      method: 'GET',
      path: '/events',
      role: 'viewer',
      summary: 'Lists events: what happened, and who caused it; newest first.',
      query: z.strictObject({
        ...paging,
        pool: Name.optional(),
        kind: z
          .string()
          .min(1)
          .max(200)
          .optional()
          .meta({ examples: ['pool.created', 'worker.lost'] }),
        ...bySubject,
      }),
      reply: wire.EventList,
      async handle({ query }) {
        const { kind, subject, after, order } = query;
        const limit = query.limit + 1;
        const [pool] = query.pool === undefined ? [] : store.view.pools.by('name', query.pool);
        // A pool that is gone is asked for by its id.
        const filter = { pool: pool?.id ?? query.pool, kind, subject };
        const rows = await store.history.events(filter, { after, limit, order: `${order} first` });
        if (rows.length === 0 && query.pool !== undefined && query.after === undefined) findPool(store, query.pool);
        const items = rows.slice(0, query.limit).map((row) => shownEvent(row, store));
        return { items, next: rows.length > query.limit ? items.at(-1)?.id : undefined };
      },
    }),
  ];
}

/** Sent once they are durable. */
const changes: ChangeTable = {
  table: 'events',
  follow: (store, touched) =>
    store.onDurable((changed) => {
      for (const change of changed)
        if ('append' in change && change.append === 'events') touched(change.row.id, change.row);
    }),
  row: (_id, { store }, { kept }) => kept && shownEvent(kept as EventRow, store),
};

export const noun: Noun = { tag: 'events', order: 60, routes: eventRoutes, changes: [changes] };

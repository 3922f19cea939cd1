import { z } from 'zod';
import { Fault } from '#core/fault.ts';
import type { DecisionRow } from '#core/journal.ts';
import { poolOfSubject, poolSubject } from '#core/reason.ts';
import type { Store } from '#core/store.ts';
import type { ApiDeps } from './deps.ts';
import type { Noun } from './noun.ts';
import { type Route, route } from './route.ts';
import { shownDecision } from './shown/decision.ts';
import * as wire from './wire/decision.ts';
import { bySubject, Name, paging } from './wire/shared.ts';

function decisionRoutes({ store }: ApiDeps): Route[] {
  return [
    route({
      method: 'GET',
      path: '/decisions/:decision',
      role: 'viewer',
      summary: 'Shows one decision.',
      params: z.object({ decision: Name }),
      reply: wire.Decision,
      async handle({ params }) {
        const [row] = await store.history.decisions({ id: params.decision }, { limit: 1, order: 'newest first' });
        if (row) return withPool(store, row);
        throw new Fault('missing', `There is no decision ${params.decision}.`, {
          at: 'path.decision',
          remedy: 'It may be older than `retention.decisions` keeps them. `GET /decisions` lists those that are kept.',
        });
      },
    }),
    route({
      method: 'GET',
      path: '/decisions',
      role: 'viewer',
      summary: 'Lists decisions about any subject with their reasons, newest first.',
      query: z.strictObject({
        ...paging,
        ...bySubject,
      }),
      reply: wire.DecisionList,
      async handle({ query }) {
        const { after, order } = query;
        const filter = { subject: query.subject && storedSubject(store, query.subject) };
        const rows = await store.history.decisions(filter, { after, limit: query.limit + 1, order: `${order} first` });
        const items = rows.slice(0, query.limit).map((row) => withPool(store, row));
        return { items, next: rows.length > query.limit ? items.at(-1)?.id : undefined };
      },
    }),
  ];
}

/** People know a pool by its name; the subject has its id. */
function withPool({ view }: Store, row: DecisionRow): wire.Decision {
  const id = poolOfSubject(row.subject);
  return { ...shownDecision(row), pool: id === undefined ? undefined : view.pools.get(id)?.name };
}

/** Pools may be named: `pool/local` means the pool of that name, or else of that id. */
function storedSubject({ view }: Store, subject: string): string {
  const name = poolOfSubject(subject);
  const [pool] = name === undefined ? [] : view.pools.by('name', name);
  return pool ? poolSubject(pool.id) : subject;
}

export const noun: Noun = { tag: 'decisions', order: 65, routes: decisionRoutes };

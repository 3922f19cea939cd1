import { z } from 'zod';
import { idsFrom } from '#core/id.ts';
import type { EndedMachine } from '#core/machine.ts';
import type { Store } from '#core/store.ts';
import type { ApiDeps } from './deps.ts';
import type { Noun } from './noun.ts';
import { type Route, route } from './route.ts';
import * as wire from './wire/machine.ts';
import { Name, paging, Time, toTime, toTimeIf } from './wire/shared.ts';

function machineRoutes({ store }: ApiDeps): Route[] {
  return [
    route({
      method: 'GET',
      path: '/machines/ended',
      role: 'viewer',
      summary: 'Lists machines that are no more, with their times, prices and failures; the last that ended first.',
      query: z.strictObject({
        ...paging,
        owner: Name.optional().meta({ description: 'Name or id of a pool.' }),
        machine: Name.optional(),
        since: Time.optional().meta({ description: 'Only those that ended then or later.' }),
        until: Time.optional().meta({ description: 'Only those that ended before.' }),
      }),
      reply: wire.EndedMachineList,
      async handle({ query }) {
        const { machine, since, until, limit } = query;
        const after = query.after ?? (until && idsFrom(Date.parse(until)));
        const owner = query.owner && ownerNamed(store, query.owner);
        const page = { after, limit: limit + 1, order: 'newest first' } as const;
        const rows = await store.history.endedMachines({ owner, machine }, page);
        const sinceMs = since === undefined ? Number.NEGATIVE_INFINITY : Date.parse(since);
        const found = rows.filter(({ endedAt }) => endedAt >= sinceMs);
        const items = found.slice(0, limit).map((row) => shownEnded(row, store));
        return { items, next: found.length > limit ? items.at(-1)?.id : undefined };
      },
    }),
  ];
}

/** A pool that is gone is asked for by its id. */
const ownerNamed = ({ view }: Store, owner: string): string => [...view.pools.by('name', owner)][0]?.id ?? owner;

function shownEnded(row: EndedMachine, { view }: Store): wire.EndedMachine {
  const { id, machine, use, owner, offer, kind, how, fault } = row;
  return {
    ...{ id, machine, use, owner: view.pools.get(owner)?.name ?? owner, offer, kind, how, fault },
    asked_at: toTime(row.askedAt),
    created_at: toTimeIf(row.createdAt),
    joined_at: toTimeIf(row.joinedAt),
    removed_at: toTimeIf(row.removedAt),
    ended_at: toTime(row.endedAt),
    prices: row.prices?.map(({ from, perHour }) => ({ from: toTime(from), per_hour: perHour })),
  };
}

export const noun: Noun = { tag: 'machines', order: 55, routes: machineRoutes };

import { z } from 'zod';
import { changeStream } from './change-stream.ts';
import type { ApiDeps } from './deps.ts';
import type { ChangeTable, Noun, WholeApi } from './noun.ts';
import { type Raw, type Route, route } from './route.ts';

const tablesIn = (known: WholeApi['changes']) =>
  z
    .string()
    .default('pools,workers,sessions')
    .transform((text, context) => {
      const tables = new Map<string, ChangeTable>();
      for (const name of text.split(',').map((one) => one.trim())) {
        const table = known.get(name);
        if (table) tables.set(name, table);
        else context.addIssue({ code: 'custom', message: `"${name}" is not one of ${[...known.keys()].join(', ')}.` });
      }
      return tables;
    })
    .meta({ examples: ['pools,workers,sessions'] });

const MOST_IDS = 200;

const idsIn = z
  .string()
  .transform((text, context) => {
    const ids = new Set(text.split(',').filter((id) => id !== ''));
    if (ids.size > MOST_IDS) context.addIssue({ code: 'custom', message: `Must name at most ${MOST_IDS} rows.` });
    return ids;
  })
  .meta({ description: 'Only the rows with these ids, at most 200: those that a page shows.', examples: ['id1,id2'] });

function changeRoutes(deps: ApiDeps, { hub, changes }: WholeApi): Route[] {
  return [
    route({
      method: 'GET',
      path: '/changes',
      role: 'viewer',
      summary:
        'Live changes as server-sent events: `hello`, then `change` for each row as it is now. ' +
        '`Last-Event-ID` resumes after that change; `reset` means: list everything again.',
      query: z.strictObject({ tables: tablesIn(changes), ids: idsIn.optional() }),
      reply: z.custom<Raw>(),
      media: ['text/event-stream'],
      isStream: true,
      headers: [{ name: 'Last-Event-ID', description: 'Resumes after this change.' }],
      handle({ query, caller, headers, signal, turn, header }) {
        const since = headers['last-event-id'];
        header('x-accel-buffering', 'no');
        return changeStream(deps, hub, {
          tables: query.tables,
          ids: query.ids,
          since: typeof since === 'string' && since !== '' ? since : undefined,
          role: caller.role,
          signal,
          turn,
        });
      },
    }),
  ];
}

export const noun: Noun = { tag: 'changes', order: 70, routes: changeRoutes };

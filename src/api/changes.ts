import { z } from 'zod';
import { type ChangeHub, isChangeTable } from './change-hub.ts';
import { changeStream } from './change-stream.ts';
import type { ApiDeps } from './deps.ts';
import { type Raw, type Route, route } from './route.ts';
import { CHANGE_TABLES, type ChangeTable } from './wire/event.ts';

const Tables = z
  .string()
  .default('pools,workers,sessions')
  .transform((text, context) => {
    const names = text.split(',').map((name) => name.trim());
    const wrong = names.find((name) => !isChangeTable(name));
    if (wrong !== undefined) {
      context.addIssue({ code: 'custom', message: `"${wrong}" is none of ${CHANGE_TABLES.join(', ')}.` });
    }
    return new Set(names as ChangeTable[]);
  })
  .meta({ examples: ['pools,workers,sessions'] });

export function changeRoutes(deps: ApiDeps, hub: ChangeHub): Route[] {
  return [
    route({
      method: 'GET',
      path: '/changes',
      role: 'viewer',
      summary:
        'Live changes as server-sent events: `hello`, then `change` for each row as it is now. ' +
        '`Last-Event-ID` goes on from there; `reset` means: list everything again.',
      query: z.strictObject({ tables: Tables }),
      reply: z.custom<Raw>(),
      media: ['text/event-stream'],
      isStream: true,
      handle({ query, caller, headers, signal, header }) {
        const since = headers['last-event-id'];
        header('x-accel-buffering', 'no');
        return changeStream(deps, hub, {
          tables: query.tables,
          since: typeof since === 'string' && since !== '' ? since : undefined,
          role: caller.role,
          signal,
        });
      },
    }),
  ];
}

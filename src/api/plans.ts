import { z } from 'zod';
import type { Role } from '#core/access.ts';
import { Fault } from '#core/fault.ts';
import type { Pool } from '#core/pool.ts';
import type { Caller } from '../access/access.ts';
import { teamOf } from '../pools/status.ts';
import type { ApiDeps } from './deps.ts';
import type { Noun } from './noun.ts';
import { selectPage } from './page.ts';
import { findPool } from './pools.ts';
import { type Route, route } from './route.ts';
import { type PlanAsker, shownChanges, shownRefusal } from './shown/planned-changes.ts';
import * as wire from './wire/plan.ts';
import { Flag, Name, paging } from './wire/shared.ts';

// A few thousand documents at a time.
const BODY_LIMIT = 8 * 2 ** 20;
const MOST_VALUES = 4 * wire.MOST_DOCUMENTS;

function askerOf(
  { features: { foresight: forecasts }, clock }: ApiDeps,
  { caller, signal }: { readonly caller: Pick<Caller, 'role' | 'token'>; readonly signal: AbortSignal },
  isExpected = false,
): PlanAsker {
  const { role, token } = caller;
  const by = forecasts && { forecasts, token, signal, now: clock.now() };
  return { role, expectedBy: isExpected ? by : undefined };
}

function planning(deps: ApiDeps): Route[] {
  return [
    route({
      method: 'POST',
      path: '/plans',
      role: 'viewer',
      summary: 'Shows what these documents would change. Applies nothing.',
      body: wire.PlanIn,
      bodyLimit: BODY_LIMIT,
      mostValues: MOST_VALUES,
      reply: wire.PlannedChanges,
      async handle({ body, caller, signal }) {
        const changes = await deps.pools.foresee(body.documents, body.source);
        return await shownChanges(changes, deps, askerOf(deps, { caller, signal }, body.expected));
      },
    }),
    route({
      method: 'POST',
      path: '/sources/:source/plan',
      // Reading the source uses its rate limit, hence not for viewers.
      role: 'operator',
      summary: 'Reads a source now and shows what its next sync would change. Applies nothing.',
      params: z.object({ source: Name }),
      query: z.strictObject({ expected: Flag.optional() }),
      reply: wire.PlannedChanges,
      async handle({ params, query, caller, signal }) {
        const changes = await deps.pools.foreseeSync(params.source, signal);
        return await shownChanges(changes, deps, askerOf(deps, { caller, signal }, query.expected));
      },
    }),
  ];
}

function shownDocument({ name, spec, owner }: Pool, deps: ApiDeps, role: Role): wire.PoolDocument {
  const { source, key } = owner;
  const base = { name, source, key, team: teamOf(deps.store, source, key), left_out: [], refused_elsewhere: [] };
  try {
    deps.documents.check(spec);
    const { document, leftOut } = deps.documents.write(spec, role);
    const refusals = deps.documents.refusedElsewhere(spec).map(deps.redactText);
    return { ...base, document, left_out: [...leftOut], refused_elsewhere: refusals };
  } catch (thrown) {
    const fault = Fault.from(thrown);
    if (fault.kind === 'internal') throw fault;
    return { ...base, fault: shownRefusal(fault, deps.redactText) };
  }
}

function exporting(deps: ApiDeps): Route {
  const { store } = deps;
  return route({
    method: 'GET',
    path: '/pool-documents',
    role: 'viewer',
    summary: 'Lists pools as the documents that define them, without secrets and without pools that are being removed.',
    query: z.strictObject({ ...paging, name: Name.optional() }),
    reply: wire.PoolDocumentList,
    handle({ query, caller }) {
      const all = Iterator.from(store.view.pools.all()).filter(({ removal }) => !removal);
      const rows = query.name === undefined ? all : [findPool(store, query.name)];
      const page = selectPage(rows, { ...query, keyOf: (pool) => pool.name });
      return { items: page.items.map((pool) => shownDocument(pool, deps, caller.role)), next: page.next };
    },
  });
}

function planRoutes(deps: ApiDeps): Route[] {
  return [...planning(deps), exporting(deps)];
}

export const noun: Noun = { tag: 'pools', order: 20, routes: planRoutes };

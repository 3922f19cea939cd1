import { z } from 'zod';
import { Fault } from '#core/fault.ts';
import { nearest } from '#core/nearest.ts';
import { type Pool as PoolRow, poolPhase } from '#core/pool.ts';
import { countPool } from '#core/pool-counts.ts';
import { poolSubject } from '#core/reason.ts';
import type { Store } from '#core/store.ts';
import { FLEET } from '#core/worker.ts';
import { nameIn } from '../pools/read-document.ts';
import type { ApiDeps } from './deps.ts';
import { expectationIn, tagOf } from './entity-tag.ts';
import { type ChangeTable, type NamedThing, type Noun, stopAll, type WholeApi } from './noun.ts';
import { poolGauges } from './pool-gauges.ts';
import { listPoolsRoute } from './pool-list.ts';
import { poolProblems } from './pool-problems.ts';
import { type Route, route } from './route.ts';
import { shownDecision } from './shown/decision.ts';
import { freezeOf, heldOf, shownPlan, shownPool, warningsOf } from './shown/pool.ts';
import { whyAt } from './why-at.ts';
import * as wire from './wire/pool.ts';
import { Name, Since, sinceMsOf, toTime } from './wire/shared.ts';

const params = z.object({ pool: Name });
const IF_MATCH = { name: 'If-Match', description: 'The ETag that the pool must still have.' };
const DOCUMENT_MEDIA = ['application/json', 'application/yaml'];
const Document = z.string().min(1).meta({ description: 'A pool document, as in the configuration.' });

export function findPool(store: ApiDeps['store'], name: string): PoolRow {
  const [pool] = store.view.pools.by('name', name);
  if (pool) return pool;
  const meant = nearest(
    name,
    Array.from(store.view.pools.all(), (known) => known.name),
  );
  const remedy = meant === undefined ? 'List pools with `muster pool ls`.' : `Did you mean ${meant}?`;
  throw new Fault('missing', `There is no pool ${name}.`, { at: 'path.pool', remedy });
}

function reading(deps: ApiDeps): Route[] {
  const { store, workers, journal } = deps;
  return [
    route({
      method: 'GET',
      path: '/pools/:pool',
      role: 'viewer',
      summary: 'Shows a pool; its ETag is its revision.',
      params,
      reply: wire.Pool,
      handle({ params, caller, header }) {
        const pool = findPool(store, params.pool);
        header('etag', tagOf(pool));
        const warnings = warningsOf(pool.spec, deps.features.foresight?.launchesASession);
        return { ...shownPool(pool, deps, caller.role), warnings };
      },
    }),
    route({
      method: 'GET',
      path: '/pools/:pool/plan',
      role: 'viewer',
      summary: 'Shows what the next pass of a pool would do, and why.',
      params,
      reply: wire.Plan,
      handle({ params }) {
        const pool = findPool(store, params.pool);
        return shownPlan(pool, workers.plan(pool.id), deps.redactText);
      },
    }),
    route({
      method: 'GET',
      path: '/pools/:pool/why',
      role: 'viewer',
      summary: 'Explains the last decisions of a pool: their facts, and what would change them.',
      params,
      query: z.strictObject({
        limit: z.coerce.number().int().min(1).max(200).default(10),
        at: Since.optional().meta({
          description:
            'Only the decision in force then, computed from its inputs: a time, or a duration back from now.',
        }),
      }),
      reply: wire.Why,
      async handle({ params, query }) {
        const pool = findPool(store, params.pool);
        if (query.at) return whyAt(deps, pool, sinceMsOf(query.at, deps.clock));
        const page = { limit: query.limit, order: 'newest first' } as const;
        const rows = await store.history.decisions({ subject: poolSubject(pool.id) }, page);
        const last = journal.lastDecision(poolSubject(pool.id));
        const decisions = rows.map((row) => shownDecision(row));
        const trouble = workers.trouble(pool.id);
        if (last) {
          const newest = { ...shownDecision(last.decision), repeats: last.repeats, last_at: toTime(last.lastAt) };
          decisions.splice(0, decisions[0]?.id === newest.id ? 1 : 0, newest);
        }
        return {
          pool: pool.name,
          phase: poolPhase(pool),
          frozen: freezeOf(pool.id, store),
          trouble: trouble && deps.redactText(trouble.message),
          held: heldOf(pool, store),
          ...startingIn(deps, pool.id),
          unmatched: unmatchedIn(store, pool.id),
          decisions,
        };
      },
    }),
  ];
}

const MOST_STARTING = 10;

/** What queued sessions wait for: booting workers are no idle ones. */
function startingIn({ store, workers, redactText }: ApiDeps, pool: string): Pick<wire.Why, 'counts' | 'starting'> {
  const { workers: by, sessions } = countPool(store, pool);
  const counts = { queued: sessions.queued, idle: by.idle, starting: by.launching + by.booting };
  if (counts.starting === 0) return { counts, starting: [] };
  const starting = [...store.view.workers.by('pool', pool)]
    .toSorted((a, b) => a.askedAt - b.askedAt)
    .flatMap((worker) => {
      const waits = workers.bootWait(worker);
      return waits === undefined
        ? []
        : [{ worker: worker.id, since: toTime(worker.askedAt), waits: redactText(waits) }];
    });
  return { counts, starting: starting.slice(0, MOST_STARTING) };
}

const MOST_LABELS = 10;

function unmatchedIn({ view }: Store, pool: string): wire.Why['unmatched'] {
  const sessions = view.sessions.count('unmatched', pool);
  if (sessions === 0) return undefined;
  const labels = new Set<string>();
  for (const { unmatched } of view.sessions.by('unmatched', pool)) {
    if (unmatched !== undefined) labels.add(unmatched);
    if (labels.size === MOST_LABELS) break;
  }
  return { sessions, labels: [...labels] };
}

function defining(deps: ApiDeps): Route[] {
  const { store, pools } = deps;
  return [
    route({
      method: 'POST',
      path: '/pools',
      role: 'operator',
      summary: 'Creates or changes the pool that a document names; `If-None-Match: *` only creates.',
      body: Document,
      bodyMedia: DOCUMENT_MEDIA,
      headers: [{ name: 'If-None-Match', description: 'Only creates.', schema: { const: '*' } }],
      reply: wire.Pool,
      alsoStatus: 201,
      async handle({ body, caller, headers, header, status }) {
        const name = nameIn(body);
        const [before] = name === undefined ? [] : store.view.pools.by('name', name);
        const pool = await pools.define(body, expectationIn(headers, before), caller);
        if (!before) status(201);
        header('etag', tagOf(pool));
        header('location', `/api/v1/pools/${encodeURIComponent(pool.name)}`);
        return shownPool(pool, deps, caller.role);
      },
    }),
    route({
      method: 'PUT',
      path: '/pools/:pool',
      role: 'operator',
      summary: 'Creates or changes a pool from its document; `If-Match` guards against a change meanwhile.',
      params,
      body: Document,
      bodyMedia: DOCUMENT_MEDIA,
      headers: [IF_MATCH],
      reply: wire.Pool,
      alsoStatus: 201,
      async handle({ params, body, caller, headers, header, status }) {
        const name = nameIn(body);
        if (name !== undefined && name !== params.pool) {
          throw new Fault('invalid', `The document defines pool ${name}, not ${params.pool}.`, { at: 'body.name' });
        }
        const [before] = store.view.pools.by('name', params.pool);
        const expect = { ...expectationIn(headers, before), name: params.pool };
        const pool = await pools.define(body, expect, caller);
        if (!before) status(201);
        header('etag', tagOf(pool));
        return shownPool(pool, deps, caller.role);
      },
    }),
    route({
      method: 'DELETE',
      path: '/pools/:pool',
      role: 'operator',
      summary: 'Drains a pool and removes it when its last worker is gone.',
      params,
      headers: [IF_MATCH],
      reply: wire.Pool,
      status: 202,
      async handle({ params, caller, headers }) {
        const before = findPool(store, params.pool);
        return shownPool(await pools.remove(params.pool, expectationIn(headers, before), caller), deps, caller.role);
      },
    }),
  ];
}

function pausing(deps: ApiDeps): Route[] {
  return ([true, false] as const).map((isPaused) =>
    route({
      method: 'POST',
      path: `/pools/:pool/${isPaused ? 'pause' : 'resume'}`,
      role: 'operator',
      summary: isPaused
        ? 'Pauses a pool: it launches, removes and places nothing. Its sessions go on.'
        : 'Resumes a paused pool.',
      params,
      reply: wire.Pool,
      async handle({ params, caller, header }) {
        findPool(deps.store, params.pool);
        const pool = await deps.pools.pause(params.pool, isPaused, caller);
        header('etag', tagOf(pool));
        return shownPool(pool, deps, caller.role);
      },
    }),
  );
}

function poolRoutes(deps: ApiDeps, whole: WholeApi): Route[] {
  return [listPoolsRoute(deps, whole), ...reading(deps), ...defining(deps), ...pausing(deps)];
}

/** A pool shows the figures of its workers and sessions, whether it is frozen, and whether its removal is held. */
const changes: ChangeTable = {
  table: 'pools',
  follow: (store, touched) =>
    stopAll([
      store.onChange('pools', (_after, _before, id) => touched(id)),
      store.onChange('workers', (after, before) => touched((after ?? before)?.pool)),
      store.onChange('agents', (_after, _before, id) => touched(store.view.workers.get(id)?.pool)),
      store.onChange('sessions', (after, before) => touched((after ?? before)?.pool)),
      store.onChange('freezes', (_after, _before, id) => {
        for (const pool of id === FLEET ? store.view.pools.all() : [store.view.pools.get(id)]) touched(pool?.id);
      }),
      store.onChange('sources', (after, before, id) => {
        if (after?.held === before?.held) return;
        const keys = new Set([...(after?.held?.keys ?? []), ...(before?.held?.keys ?? [])]);
        for (const pool of store.view.pools.by('source', id)) if (keys.has(pool.owner.key)) touched(pool.id);
      }),
    ]),
  row(id, deps, { role }) {
    const pool = deps.store.view.pools.get(id);
    return pool && shownPool(pool, deps, role);
  },
};

function* named({ store }: ApiDeps): Iterable<NamedThing> {
  for (const { id, name } of store.view.pools.all())
    yield { kind: 'pool', name, link: `/pools/${encodeURIComponent(name)}`, text: id };
}

export const noun: Noun = {
  tag: 'pools',
  order: 10,
  routes: poolRoutes,
  changes: [changes],
  named,
  problems: (deps, { waiting }) => poolProblems(deps, waiting),
  gauges: poolGauges,
};

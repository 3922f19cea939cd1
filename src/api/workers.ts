import { z } from 'zod';
import { Fault } from '#core/fault.ts';
import { phaseOf } from '#core/pool-counts.ts';
import { WORKER_PHASES, type Worker as WorkerRow } from '#core/worker.ts';
import type { ApiDeps } from './deps.ts';
import { type ChangeTable, type NamedThing, type Noun, stopAll } from './noun.ts';
import { selectPage } from './page.ts';
import { findPool } from './pools.ts';
import { type Route, route } from './route.ts';
import { shownWorker } from './shown/worker.ts';
import { Name, paging } from './wire/shared.ts';
import * as wire from './wire/worker.ts';

const params = z.object({ worker: Name });

function findWorker(store: ApiDeps['store'], name: string): WorkerRow {
  const worker = store.view.workers.get(name);
  if (worker) return worker;
  throw new Fault('missing', `There is no worker ${name}.`, {
    at: 'path.worker',
    remedy: 'List workers with `muster worker ls`.',
  });
}

function workerRoutes(deps: ApiDeps): Route[] {
  const { store, workers } = deps;
  return [
    route({
      method: 'GET',
      path: '/workers',
      role: 'viewer',
      summary: 'Lists workers by name.',
      query: z.strictObject({ ...paging, pool: Name.optional(), phase: z.enum(WORKER_PHASES).optional() }),
      reply: wire.WorkerList,
      handle({ query }) {
        const { pool, phase } = query;
        const rows =
          pool === undefined ? store.view.workers.all() : store.view.workers.by('pool', findPool(store, pool).id);
        const isWanted = (worker: WorkerRow): boolean => phase === undefined || phaseOf(store, worker) === phase;
        const page = selectPage(Iterator.from(rows).filter(isWanted), { ...query, keyOf: (worker) => worker.id });
        return { items: page.items.map((worker) => shownWorker(worker, deps)), next: page.next };
      },
    }),
    route({
      method: 'GET',
      path: '/workers/:worker',
      role: 'viewer',
      summary: 'Shows a worker.',
      params,
      reply: wire.Worker,
      handle: ({ params }) => shownWorker(findWorker(store, params.worker), deps),
    }),
    route({
      method: 'POST',
      path: '/workers/:worker/drain',
      role: 'operator',
      summary: 'Drains a worker: it takes no new sessions and is removed when its last one has ended.',
      params,
      reply: wire.Worker,
      status: 202,
      async handle({ params, caller }) {
        findWorker(store, params.worker);
        return shownWorker(await workers.drain(params.worker, caller), deps);
      },
    }),
    route({
      method: 'POST',
      path: '/workers/:worker/release',
      role: 'operator',
      summary: 'Takes back the drain of a worker whose agent joined by itself and speaks the Velda protocol.',
      params,
      reply: wire.Worker,
      status: 202,
      async handle({ params, caller }) {
        findWorker(store, params.worker);
        return shownWorker(await workers.release(params.worker, caller), deps);
      },
    }),
  ];
}

/** The phase of a worker follows from its agent and its sessions. */
const changes: ChangeTable = {
  table: 'workers',
  follow: (store, touched) =>
    stopAll([
      store.onChange('workers', (_after, _before, id) => touched(id)),
      store.onChange('agents', (_after, _before, id) => touched(id)),
      store.onChange('sessions', (after, before) => {
        if (after?.worker === before?.worker) return;
        touched(before?.worker);
        touched(after?.worker);
      }),
    ]),
  row(id, deps) {
    const worker = deps.store.view.workers.get(id);
    return worker && shownWorker(worker, deps);
  },
};

function* named({ store }: ApiDeps): Iterable<NamedThing> {
  for (const { id, machine } of store.view.workers.all())
    yield { kind: 'worker', name: id, link: `/workers/${encodeURIComponent(id)}`, text: machine };
}

export const noun: Noun = { tag: 'workers', order: 30, routes: workerRoutes, changes: [changes], named };

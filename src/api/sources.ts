import { z } from 'zod';
import { Fault } from '#core/fault.ts';
import { nearest } from '#core/nearest.ts';
import { API_SOURCE, type DocumentState } from '#core/source.ts';
import { listSources, type SourceStatus } from '../pools/status.ts';
import type { ApiDeps } from './deps.ts';
import { gaugeSet } from './gauges.ts';
import type { ChangeTable, Gauges, GaugeWorld, NamedThing, Noun } from './noun.ts';
import { selectPage } from './page.ts';
import { type Route, route } from './route.ts';
import { shownDocument, shownOutcome, shownSource, sourceNow, statusWorld } from './shown/source.ts';
import { sourceProblems } from './source-problems.ts';
import { Flag, Name, paging } from './wire/shared.ts';
import * as wire from './wire/source.ts';

const params = z.object({ source: Name });

function findSource(deps: ApiDeps, id: string): wire.Source {
  const source = sourceNow(deps, id);
  if (source) return source;
  const meant = nearest(
    id,
    Array.from(listSources(statusWorld(deps)), (known) => known.id),
  );
  const remedy = meant === undefined ? 'List sources with `muster source ls`.' : `Did you mean ${meant}?`;
  throw new Fault('missing', `There is no source ${id}.`, { at: 'path.source', remedy });
}

function reading(deps: ApiDeps): Route[] {
  const { store } = deps;
  return [
    route({
      method: 'GET',
      path: '/sources',
      role: 'viewer',
      summary: 'Lists the sources of pools with their status.',
      query: z.strictObject(paging),
      reply: wire.SourceList,
      handle({ query }) {
        const page = selectPage(listSources(statusWorld(deps)), { ...query, keyOf: (source) => source.id });
        return { items: page.items.map((source) => shownSource(deps, source)), next: page.next };
      },
    }),
    route({
      method: 'GET',
      path: '/sources/:source',
      role: 'viewer',
      summary: 'Shows a source.',
      params,
      reply: wire.Source,
      handle: ({ params }) => findSource(deps, params.source),
    }),
    route({
      method: 'GET',
      path: '/sources/:source/documents',
      role: 'viewer',
      summary: 'Lists the documents of a source; with `faulty`, only the refused ones.',
      params,
      query: z.strictObject({ ...paging, faulty: Flag }),
      reply: wire.SourceDocumentList,
      handle({ params, query }) {
        const { id } = findSource(deps, params.source);
        const isWanted = (document: DocumentState): boolean => !query.faulty || document.fault !== undefined;
        const rows = Iterator.from(store.view.documents.by('source', id)).filter(isWanted);
        const page = selectPage(rows, { ...query, keyOf: (document) => document.key });
        return { items: page.items.map((document) => shownDocument(document, store)), next: page.next };
      },
    }),
  ];
}

/** What is written here through the API is in force at once: there is nothing to read. */
function mustBeRead({ id }: wire.Source): void {
  if (id !== API_SOURCE) return;
  throw new Fault('invalid', `The source ${id} needs no sync: its pools are in force as soon as they are written.`, {
    remedy: 'Write pools with `muster pool apply`.',
  });
}

function acting(deps: ApiDeps): Route[] {
  const { pools } = deps;
  return [
    route({
      method: 'POST',
      path: '/sources/:source/sync',
      role: 'operator',
      summary: 'Reads a source now. With `wait`, answers with the result when the sync is done.',
      params,
      query: z.strictObject({ wait: Flag }),
      reply: wire.SourceSync,
      status: 202,
      alsoStatus: 200,
      async handle({ params, query, signal, status }) {
        const source = findSource(deps, params.source);
        mustBeRead(source);
        if (!query.wait) {
          pools.sync(source.id);
          return source;
        }
        const outcome = await pools.synced(source.id, signal);
        status(200);
        return { ...findSource(deps, source.id), outcome: shownOutcome(outcome, deps.redactText) };
      },
    }),
    route({
      method: 'POST',
      path: '/sources/:source/approve',
      role: 'operator',
      summary: 'Approves a held removal of pools.',
      params,
      query: z.strictObject({
        pools: z.coerce.number().int().min(0).optional().meta({
          description: 'The expected number of pools. If another number is held, nothing is removed.',
        }),
      }),
      reply: wire.Source,
      async handle({ params, query, caller }) {
        const before = findSource(deps, params.source);
        await pools.approve(before.id, caller, query.pools);
        // A source that is no longer configured may have been deleted meanwhile.
        return sourceNow(deps, before.id) ?? { ...before, held: undefined };
      },
    }),
  ];
}

function sourceRoutes(deps: ApiDeps): Route[] {
  return [...reading(deps), ...acting(deps)];
}

const changes: ChangeTable = {
  table: 'sources',
  follow: (store, touched) => store.onChange('sources', (_after, _before, id) => touched(id)),
  row: (id, deps) => sourceNow(deps, id),
};

/** A source that was never read, as with wrong credentials from the start, is as old as the server: it must alert too. */
function ageOf({ id, ageMs, isConfigured }: SourceStatus, uptimeMs: number): number | undefined {
  return ageMs ?? (isConfigured && id !== API_SOURCE ? uptimeMs : undefined);
}

function gauges({ registry, store, clock, syncTimes }: GaugeWorld): Gauges {
  const { gauge, reset } = gaugeSet(registry);
  const of = (name: string, help: string) => gauge(`muster_source_${name}`, help, ['source']);
  const syncAge = of('sync_age_seconds', 'Time since the last good listing of a source, or else since the start.');
  const syncTook = of('sync_seconds', 'Duration of the last good listing of a source.');
  const syncFailures = of('sync_failures', 'Consecutive failed listings of a source.');
  const documentCount = of('documents', 'Documents of a source.');
  const isHeld = of('held', '1 while a removal of a source waits for approval.');
  const faultyCount = of('faulty_documents', 'Documents of a source that are refused.');
  const startedAt = clock.now();
  return {
    refresh() {
      reset();
      const nowMs = clock.now();
      for (const status of listSources({ view: store.view, timings: syncTimes(), nowMs })) {
        const { id: source, durationMs, failures, documents, faulty, held } = status;
        const ageMs = ageOf(status, nowMs - startedAt);
        if (ageMs !== undefined) syncAge.set({ source }, ageMs / 1_000);
        if (durationMs !== undefined) syncTook.set({ source }, durationMs / 1_000);
        syncFailures.set({ source }, failures);
        documentCount.set({ source }, documents);
        faultyCount.set({ source }, faulty);
        isHeld.set({ source }, held ? 1 : 0);
      }
    },
  };
}

function* named(deps: ApiDeps): Iterable<NamedThing> {
  for (const { id, kind } of listSources(statusWorld(deps)))
    yield { kind: 'source', name: id, link: `/sources/${encodeURIComponent(id)}`, text: kind };
}

export const noun: Noun = {
  tag: 'sources',
  order: 80,
  routes: sourceRoutes,
  changes: [changes],
  problems: sourceProblems,
  named,
  gauges,
};

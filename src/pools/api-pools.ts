// The source `api`: its documents are kept in the store itself, so they survive a restart.
import { Fault } from '#core/fault.ts';
import type { Pool } from '#core/pool.ts';
import { API_SOURCE, type DocumentState, documentId } from '#core/source.ts';
import { drop, put } from '#core/store.ts';
import type { ApplyOwnership } from './apply-ownership.ts';
import { describeDocument } from './apply-ownership.ts';
import { drainChanges } from './drain-pool.ts';
import { ownerStatusOf } from './missing-documents.ts';
import type { Expectation, Pools } from './pools.ts';
import { nameIn, readPoolDocument } from './read-document.ts';
import type { Registry } from './registry.ts';

const API = { id: API_SOURCE, trust: 'foreign' } as const;

function mustExist(registry: Registry, name: string): Pool {
  const pool = registry.poolNamed(name);
  if (!pool) throw new Fault('missing', `There is no pool "${name}".`);
  return pool;
}

/** Refuses a pool of another owner; a pool that its owner has dropped may be taken over. */
function mustBeOurs(registry: Registry, pool: Pool, remedy: string): void {
  if (pool.owner.source === API_SOURCE || ownerStatusOf(registry, pool) === 'dropped') return;
  throw new Fault('conflict', `Pool "${pool.name}" is owned by ${describeDocument(pool.owner)}.`, { remedy });
}

/** Revision 0 expects that there is no such pool yet. */
function mustBeAsExpected(pool: Pool | undefined, name: string, { revision }: Expectation): void {
  if (revision === undefined || revision === (pool?.revision ?? 0)) return;
  const now = pool ? `is at revision ${pool.revision}` : 'does not exist';
  throw new Fault('stale', `Pool "${name}" ${now}, not at ${revision} as expected.`);
}

function mustBeNamed(name: string, expect: Expectation): void {
  if (expect.name === undefined || expect.name === name) return;
  throw new Fault('invalid', `The document defines pool ${name}, not ${expect.name}.`, { at: 'body.name' });
}

/** Reads again what the API defined before this process started. */
export async function loadApiPools(registry: Registry, applyOwnership: ApplyOwnership): Promise<void> {
  const { view } = registry.deps.store;
  for (const { key, version, text = '' } of view.documents.by('source', API_SOURCE)) {
    const { spec, fault } = await readPoolDocument(registry.deps.readPool, API, text);
    registry.parsedDocuments.set({ source: API_SOURCE, key, version, spec, fault });
  }
  for (const { spec } of [...registry.parsedDocuments.of(API_SOURCE).values()]) {
    if (spec) applyOwnership(spec.name);
  }
  for (const pool of [...view.pools.by('source', API_SOURCE)]) {
    const isOrphan = !pool.removal && !registry.parsedDocuments.get(API_SOURCE, pool.owner.key);
    if (isOrphan) void registry.commit(drainChanges(registry, pool, { why: 'The document of the pool is gone.' }));
  }
}

/** A refusal says that the last good version stays only where there is one. */
function withLastGood(registry: Registry, fault: Fault, text: string): Fault {
  const name = fault.kind === 'invalid' ? nameIn(text) : undefined;
  const pool = name === undefined ? undefined : registry.poolNamed(name);
  if (pool?.owner.source !== API_SOURCE || pool.removal) return fault;
  const { kind, message, at, problems } = fault;
  const remedy = 'Correct the document; until then its last good version stays in force.';
  return new Fault(kind, message, { at, problems, remedy });
}

/** Where a document stands in its file is no part of it: one that has only moved is the same. */
const withoutBlankStart = (text: string): string => text.replace(/^(?:[^\S\n]*\n)+/, '');

export function apiPools(
  registry: Registry,
  applyOwnership: ApplyOwnership,
): Pick<Pools, 'define' | 'remove' | 'pause'> {
  const { store, clock, journal } = registry.deps;
  const { view } = store;

  return {
    async define(placed, expect, actor) {
      // Read as it came, so that the places in what is said of it are those of the file.
      const { spec, fault } = await readPoolDocument(registry.deps.readPool, API, placed);
      if (fault) throw withLastGood(registry, fault, placed);
      const { name } = spec;
      mustBeNamed(name, expect);
      const text = withoutBlankStart(placed);
      const before = registry.poolNamed(name);
      if (before) mustBeOurs(registry, before, 'Change the document there, or give this pool another name.');
      mustBeAsExpected(before, name, expect);
      const id = documentId(API_SOURCE, name);
      const document = view.documents.get(id);
      const isSameText = document?.text === text;
      const version = isSameText ? document.version : String(Number(document?.version ?? 0) + 1);
      registry.parsedDocuments.set({ source: API_SOURCE, key: name, version, spec });
      const made = { id, source: API_SOURCE, key: name, version, readAt: clock.now(), text, missed: 0 };
      const row: DocumentState = { ...document, ...made };
      if (!isSameText) void registry.commit([put('documents', row)]);
      applyOwnership(name, actor);
      const pool = mustExist(registry, name);
      await store.durable();
      return pool;
    },
    async remove(name, expect, actor) {
      const pool = mustExist(registry, name);
      if (pool.owner.source !== API_SOURCE) {
        const remedy =
          'Remove the document there. If that source is gone, approve the held removal with `muster source approve`.';
        throw new Fault('conflict', `Pool "${name}" is owned by ${describeDocument(pool.owner)}.`, { remedy });
      }
      mustBeAsExpected(pool, name, expect);
      if (pool.removal) return pool;
      registry.parsedDocuments.delete(API_SOURCE, name);
      void registry.commit([drop('documents', documentId(API_SOURCE, name))]);
      applyOwnership(name, actor);
      const settled = mustExist(registry, name);
      if (settled.owner.source === API_SOURCE) {
        void registry.commit(drainChanges(registry, settled, { why: `Removed by ${actor.who}.`, actor }));
      }
      const answer = mustExist(registry, name);
      await store.durable();
      return answer;
    },
    async pause(name, isPaused, actor) {
      const pool = mustExist(registry, name);
      if ((pool.pausedAt !== undefined) === isPaused) return pool;
      const at = clock.now();
      const next: Pool = { ...pool, pausedAt: isPaused ? at : undefined, changedAt: at, revision: pool.revision + 1 };
      const kind = isPaused ? 'pool.paused' : 'pool.resumed';
      const message = isPaused ? 'Paused: the pool launches, removes and places nothing.' : 'Resumed.';
      const event = journal.event({ kind, subject: `pool/${name}`, pool: pool.id, message }, actor);
      await registry.commit([put('pools', next), event]);
      return next;
    },
  };
}

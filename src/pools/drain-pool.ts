import type { Actor } from '#core/journal.ts';
import { type Loop, startLoop } from '#core/loop.ts';
import { readMark } from '#core/mark.ts';
import type { Pool } from '#core/pool.ts';
import { poolInLog } from '#core/pool-counts.ts';
import { documentId } from '#core/source.ts';
import { type Change, drop, put } from '#core/store.ts';
import type { Registry } from './registry.ts';

/** Begins to drain a pool; it is deleted when its last worker, launch and session are gone. */
export function drainChanges(
  { deps, parsedDocuments }: Registry,
  pool: Pool,
  {
    why,
    actor,
    isForced,
  }: { readonly why: string; readonly actor?: Actor | undefined; readonly isForced?: boolean | undefined },
): Change[] {
  const { source, key } = pool.owner;
  const at = deps.clock.now();
  const removal = { at, deadlineAt: isForced ? at : at + pool.spec.drainTimeoutMs, why };
  const event = deps.journal.event(
    { kind: 'pool.removing', subject: `pool/${pool.name}`, pool: pool.id, message: why },
    actor ?? { who: `source:${source}`, from: key },
  );
  const changes = [put('pools', { ...pool, removal, changedAt: at, revision: pool.revision + 1 }), event];
  const document = deps.store.view.documents.get(documentId(source, key));
  const isGone = !parsedDocuments.get(source, key) && document?.pool === pool.id;
  return isGone ? [...changes, drop('documents', document.id)] : changes;
}

/** Ends the drain of a pool whose writer no longer waits for its busy workers. */
export function endDrainChanges({ deps }: Registry, pool: Pool): Change[] {
  const nowMs = deps.clock.now();
  const { removal } = pool;
  if (!removal || removal.deadlineAt <= nowMs) return [];
  const message = 'Deletion is forced: busy workers do not finish their sessions.';
  const actor = { who: `source:${pool.owner.source}`, from: pool.owner.key };
  return [
    put('pools', {
      ...pool,
      removal: { ...removal, deadlineAt: nowMs },
      changedAt: nowMs,
      revision: pool.revision + 1,
    }),
    deps.journal.event({ kind: 'pool.removing', subject: `pool/${pool.name}`, pool: pool.id, message }, actor),
  ];
}

/** Deletes each removed pool when its last worker, launch and session are gone. */
export function startForgettingDrained(registry: Registry, ended: () => void): Pick<Loop, 'stop'> {
  const { store, clock, random, log, journal } = registry.deps;
  const { view } = store;

  function reconcile(id: string): void {
    const pool = view.pools.get(id);
    if (!pool?.removal) return;
    const left = view.workers.count('pool', id) + view.launches.count('owner', id) + view.sessions.count('pool', id);
    if (left > 0) return;
    const { source, key } = pool.owner;
    const document = view.documents.get(documentId(source, key));
    const message = 'Drained and removed.';
    void registry.commit([
      drop('pools', id),
      ...(document?.pool === id ? [drop('documents', document.id)] : []),
      journal.event({ kind: 'pool.removed', subject: `pool/${pool.name}`, pool: id, message }),
    ]);
    ended();
  }

  const loop = startLoop({ name: 'drained pools', clock, random, log, reconcile, logged: poolInLog({ view }) });
  const look = (row: { readonly pool: string } | undefined): void => {
    if (row && view.pools.get(row.pool)?.removal) loop.poke(row.pool);
  };
  const stops = [
    store.onChange('pools', (after) => {
      if (after?.removal) loop.poke(after.id);
    }),
    store.onChange('workers', (after, before) => after ?? look(before)),
    store.onChange('launches', (after, before) => after ?? look(before && { pool: readMark(before.mark).owner })),
    store.onChange('sessions', (after, before) => after ?? look(before)),
  ];
  for (const pool of view.pools.all()) {
    if (pool.removal) loop.poke(pool.id);
  }
  return {
    async stop() {
      for (const stop of stops) stop();
      await loop.stop();
    },
  };
}

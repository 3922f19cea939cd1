import { type Loop, startLoop } from '#core/loop.ts';
import { documentId } from '#core/source.ts';
import { drop } from '#core/store.ts';
import type { Registry } from './registry.ts';

/** Forgets each removed pool when its last worker, launch and session are gone. */
export function startEndings(registry: Registry, ended: () => void): Pick<Loop, 'stop'> {
  const { store, clock, random, log, journal } = registry.deps;
  const { view } = store;

  function reconcile(id: string): void {
    const pool = view.pools.get(id);
    if (!pool?.removal) return;
    const left = view.workers.count('pool', id) + view.launches.count('pool', id) + view.sessions.count('pool', id);
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

  const loop = startLoop({ name: 'pool endings', clock, random, log, reconcile });
  const look = (row: { readonly pool: string } | undefined): void => {
    if (row && view.pools.get(row.pool)?.removal) loop.poke(row.pool);
  };
  const stops = [
    store.onChange('pools', (after) => {
      if (after?.removal) loop.poke(after.id);
    }),
    store.onChange('workers', (after, before) => after ?? look(before)),
    store.onChange('launches', (after, before) => after ?? look(before)),
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

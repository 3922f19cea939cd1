import { Fault } from '#core/fault.ts';
import type { Pool } from '#core/pool.ts';
import type { DroppedPools } from './dropped-pools.ts';
import { ownerStatusOf } from './missing-documents.ts';
import type { Registry, SourceRunner, SyncOutcome } from './registry.ts';
import { isRemovalHeld } from './status.ts';

/** Counts what a sync does to pools. */
export interface OutcomeCounter {
  /** To be called for each name before it is applied. */
  note(name: string): void;
  outcome(): SyncOutcome;
}

export const NEXT_LISTING = 'The next listing without its document removes it.';

/** What becomes of the pools that the source no longer defines. */
function decisionsOf(
  registry: Registry,
  source: string,
  { waitsFor }: Pick<DroppedPools, 'waitsFor'>,
): Pick<SyncOutcome, 'held' | 'waiting'> {
  const { store } = registry.deps;
  const held: string[] = [];
  const waiting: { pool: string; why: string }[] = [];
  for (const pool of [...store.view.pools.by('source', source)].toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const status = pool.removal ? 'present' : ownerStatusOf(registry, pool);
    const why = status === 'waiting' ? NEXT_LISTING : waitsFor(pool);
    if (status === 'dropped' && isRemovalHeld(store, pool.owner)) held.push(pool.name);
    else if (why !== undefined) waiting.push({ pool: pool.name, why });
  }
  return { held, waiting };
}

export function countOutcome(
  registry: Registry,
  source: string,
  {
    counts,
    droppedPools,
  }: {
    readonly counts: Pick<SyncOutcome, 'documents' | 'read' | 'missing'>;
    readonly droppedPools: Pick<DroppedPools, 'waitsFor'>;
  },
): OutcomeCounter {
  const { poolNamed } = registry;
  const before = new Map<string, Pool | undefined>();
  return {
    note: (name) => void before.set(name, poolNamed(name)),
    outcome() {
      const names = { created: [] as string[], changed: [] as string[], removing: [] as string[] };
      for (const [name, pool] of before) {
        const now = poolNamed(name);
        const became = becameOf(pool, now?.removal ? undefined : now);
        if (became) names[became].push(name);
      }
      return { ...counts, ...names, ...decisionsOf(registry, source, droppedPools) };
    },
  };
}

function becameOf(before: Pool | undefined, now: Pool | undefined): 'created' | 'changed' | 'removing' | undefined {
  if (!now) return before && !before.removal ? 'removing' : undefined;
  if (!before) return 'created';
  return before.revision === now.revision ? undefined : 'changed';
}

/** The outcome of the next sync of a source that begins; rejects when the caller gives up or the source is closed. */
export function awaitSync(
  { deps }: Registry,
  { waiting, closed }: SourceRunner,
  signal: AbortSignal,
): Promise<SyncOutcome> {
  const ended = AbortSignal.any([signal, closed.signal]);
  return new Promise((resolve, reject) => {
    const giveUp = (): void => {
      waiting.delete(tell);
      const message = 'The result of the sync is unknown: the source was reconfigured, or the server is stopping.';
      reject(new Fault('unavailable', message, { remedy: 'Ask again.' }));
    };
    const tell = (outcome: SyncOutcome): void => {
      ended.removeEventListener('abort', giveUp);
      deps.store.durable().then(() => resolve(outcome), reject);
    };
    if (ended.aborted) return giveUp();
    ended.addEventListener('abort', giveUp, { once: true });
    waiting.add(tell);
  });
}

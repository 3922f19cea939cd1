import { Fault } from '#core/fault.ts';
import type { Pool } from '#core/pool.ts';
import { ownerStatusOf } from './missing-documents.ts';
import type { Registry, SourceRunner, SyncOutcome } from './registry.ts';

/** Counts what a sync does to pools. */
export interface OutcomeCounter {
  /** To be called for each name before it is applied. */
  note(name: string): void;
  outcome(): SyncOutcome;
}

export function countOutcome(
  registry: Registry,
  counts: Pick<SyncOutcome, 'documents' | 'read' | 'missing'>,
): OutcomeCounter {
  const { poolNamed } = registry;
  const before = new Map<string, Pool | undefined>();
  // Its removal follows as soon as the other sources have been read: one of them may define it now.
  const isDropped = (pool: Pool): boolean => pool.removal !== undefined || ownerStatusOf(registry, pool) === 'dropped';
  const isHeld = ({ owner }: Pool): boolean =>
    registry.deps.store.view.sources.get(owner.source)?.held?.keys.includes(owner.key) ?? false;
  return {
    note: (name) => void before.set(name, poolNamed(name)),
    outcome() {
      const names = { created: [] as string[], changed: [] as string[], removing: [] as string[] };
      for (const [name, pool] of before) {
        const now = poolNamed(name);
        const became = becameOf(pool, now && isDropped(now) && !isHeld(now) ? undefined : now);
        if (became) names[became].push(name);
      }
      return { ...counts, ...names };
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

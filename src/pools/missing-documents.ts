// When a document counts as gone: at once where its writer has deleted it, else after two good listings without it.
import type { Pool } from '#core/pool.ts';
import { API_SOURCE, documentId } from '#core/source.ts';
import type { Registry } from './registry.ts';

/** Number of consecutive good listings without a definition before it counts as dropped. */
export const MISSES_TO_DROP = 2;

/**
 * Whether the owner of a pool still wants it.
 * `present`: its document defines the pool. `kept`: its document or source cannot be read, so the last good definition stands.
 * `waiting`: not yet known; the next listing will tell. `dropped`: the owner no longer defines it.
 */
export type OwnerStatus = 'present' | 'kept' | 'waiting' | 'dropped';

/** Whether the writer of its document has deleted that, and waits until the pool is gone. */
export const isDeletedByWriter = ({ runners }: Pick<Registry, 'runners'>, { owner }: Pick<Pool, 'owner'>): boolean =>
  runners.get(owner.source)?.deleted.has(owner.key) ?? false;

/** Whether that writer does not wait for busy workers. */
export const isForcedByWriter = ({ runners }: Pick<Registry, 'runners'>, { owner }: Pick<Pool, 'owner'>): boolean =>
  runners.get(owner.source)?.deleted.get(owner.key)?.isForced ?? false;

export function ownerStatusOf({ deps, parsedDocuments, runners }: Registry, pool: Pool): OwnerStatus {
  const { source, key } = pool.owner;
  const parsed = parsedDocuments.get(source, key);
  const runner = runners.get(source);
  if (parsed?.spec?.name === pool.name) return 'present';
  if (pool.removal || isDeletedByWriter({ runners }, pool)) return 'dropped';
  if (parsed && !parsed.spec) return 'kept';
  if (source === API_SOURCE || !runner) return 'dropped';
  if (!parsed && runner.readTick === 0) return runner.timing.failures > 0 ? 'kept' : 'waiting';
  const document = deps.store.view.documents.get(documentId(source, key));
  const isCounted = !parsed && document?.pool === pool.id;
  const misses = isCounted ? document.missed : (runner.renamedAway.get(pool.name) ?? 0);
  return misses < MISSES_TO_DROP ? 'waiting' : 'dropped';
}

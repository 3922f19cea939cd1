import type { Pool } from '#core/pool.ts';
import { API_SOURCE, documentId } from '#core/source.ts';
import type { Registry } from './registry.ts';

/** From how many good listings in a row a definition must be missing before we take it for dropped. */
export const MISSES_TO_DROP = 2;

/**
 * Whether the owner of a pool still wants it.
 * `present`: its document defines the pool. `kept`: its document or source cannot be read, so the last good definition stands.
 * `waiting`: not yet known; the next listing will tell. `dropped`: the owner no longer defines it.
 */
export type Standing = 'present' | 'kept' | 'waiting' | 'dropped';

export function standingOf({ deps, claims, feeds }: Registry, pool: Pool): Standing {
  const { source, key } = pool.owner;
  const claim = claims.get(source, key);
  const feed = feeds.get(source);
  if (claim?.spec?.name === pool.name) return 'present';
  if (pool.removal) return 'dropped';
  if (claim && !claim.spec) return 'kept';
  if (source === API_SOURCE || !feed) return 'dropped';
  if (!claim && feed.readTick === 0) return feed.timing.failures > 0 ? 'kept' : 'waiting';
  const document = deps.store.view.documents.get(documentId(source, key));
  const isCounted = !claim && document?.pool === pool.id;
  const misses = isCounted ? document.missed : (feed.outgrown.get(pool.name) ?? 0);
  return misses < MISSES_TO_DROP ? 'waiting' : 'dropped';
}

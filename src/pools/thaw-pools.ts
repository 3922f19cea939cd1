// Writers may thaw the pool of their document, and nothing else.
import { actorOf } from './apply-ownership.ts';
import { isOwner } from './ownership.ts';
import type { ListedDocuments, Registry, SourceRunner } from './registry.ts';

/** Thaws the pools whose writers ask for it; answers the keys of those documents. */
export async function thawAsked(
  { deps }: Registry,
  { opened: { id: source } }: SourceRunner,
  { byKey }: ListedDocuments,
): Promise<readonly string[]> {
  const { pools, freezes } = deps.store.view;
  const keys = [...byKey.values()].flatMap(({ key, isThawAsked }) => (isThawAsked ? [key] : []));
  for (const key of keys) {
    const pool = [...pools.by('source', source)].find((each) => isOwner(each, { source, key }));
    if (pool && freezes.get(pool.id)) await deps.thaw?.(pool.id, actorOf({ source, key }));
  }
  return keys;
}

import type { Actor } from '#core/journal.ts';
import type { Pool } from '#core/pool.ts';
import { documentId } from '#core/source.ts';
import { type Change, drop, put } from '#core/store.ts';
import type { Registry } from './registry.ts';

/** Begins to drain a pool; it is forgotten when its last worker, launch and session are gone. */
export function removalChanges(
  { deps, claims }: Registry,
  pool: Pool,
  { why, actor }: { readonly why: string; readonly actor?: Actor | undefined },
): Change[] {
  const { source, key } = pool.owner;
  const at = deps.clock.now();
  const removal = { at, deadlineAt: at + pool.spec.drainTimeoutMs, why };
  const event = deps.journal.event(
    { kind: 'pool.removing', subject: `pool/${pool.name}`, pool: pool.id, message: why },
    actor ?? { who: `source:${source}`, from: key },
  );
  const changes = [put('pools', { ...pool, removal, changedAt: at, revision: pool.revision + 1 }), event];
  const document = deps.store.view.documents.get(documentId(source, key));
  const isGone = !claims.get(source, key) && document?.pool === pool.id;
  return isGone ? [...changes, drop('documents', document.id)] : changes;
}

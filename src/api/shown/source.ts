import { formatDuration } from '#core/duration.ts';
import type { DocumentState } from '#core/source.ts';
import type { Store } from '#core/store.ts';
import { type SourceStatus, type StatusWorld, sourceStatus } from '../../pools/status.ts';
import type { ApiDeps } from '../deps.ts';
import { toTime, toTimeIf } from '../wire/shared.ts';
import type * as wire from '../wire/source.ts';

export function statusWorld({ store, pools, clock }: Pick<ApiDeps, 'store' | 'pools' | 'clock'>): StatusWorld {
  return { view: store.view, timings: pools.timings(), nowMs: clock.now() };
}

export function shownSource(status: SourceStatus): wire.Source {
  const { fault, held, everyMs } = status;
  return {
    id: status.id,
    kind: status.kind,
    configured: status.isConfigured,
    every: everyMs === undefined ? undefined : formatDuration(everyMs),
    pools: status.pools,
    documents: status.documents,
    faulty_documents: status.faulty,
    missing_documents: status.missing,
    last_good_at: toTimeIf(status.lastGoodAt),
    last_tried_at: toTimeIf(status.lastTriedAt),
    failures: status.failures,
    fault: fault && { kind: fault.kind, message: fault.message, at: toTime(fault.at) },
    held: held && { at: toTime(held.at), why: held.why, keys: [...held.keys] },
  };
}

/** A source as it is now; nothing where there is none of that id. */
export function sourceNow(deps: ApiDeps, id: string): wire.Source | undefined {
  const status = sourceStatus(statusWorld(deps), id);
  return status && shownSource(status);
}

/** Its text is never shown: it may hold secrets. */
export function shownDocument(
  { key, version, pool, missed, fault }: DocumentState,
  { view }: Store,
): wire.SourceDocument {
  const slash = key.lastIndexOf('/');
  const name = pool === undefined ? undefined : (view.pools.get(pool)?.name ?? pool);
  return { key, version, team: slash > 0 ? key.slice(0, slash) : undefined, pool: name, missed, fault };
}

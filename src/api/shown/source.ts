import { formatDuration } from '#core/duration.ts';
import type { DocumentState } from '#core/source.ts';
import type { Store } from '#core/store.ts';
import type { SyncOutcome } from '../../pools/pools.ts';
import { type SourceStatus, type StatusWorld, sourceStatus, teamOf } from '../../pools/status.ts';
import type { ApiDeps } from '../deps.ts';
import { toTime, toTimeIf } from '../wire/shared.ts';
import type * as wire from '../wire/source.ts';

export function statusWorld({ store, pools, clock }: Pick<ApiDeps, 'store' | 'pools' | 'clock'>): StatusWorld {
  return { view: store.view, timings: pools.timings(), nowMs: clock.now() };
}

/** Backends without a price, by kind: neither their cloud gives one nor the pool. */
function withoutPrices({ store, hasPrices }: ApiDeps, source: string): wire.Source['without_prices'] {
  const pools = new Map<string, number>();
  for (const { spec } of store.view.pools.by('source', source)) {
    const unpriced = spec.offers.filter(
      ({ id, kind }) => spec.terms?.[id]?.pricePerHour === undefined && !hasPrices(kind),
    );
    for (const kind of new Set(unpriced.map((offer) => offer.kind))) pools.set(kind, (pools.get(kind) ?? 0) + 1);
  }
  const rows = [...pools]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([backend, count]) => ({ backend, pools: count }));
  return rows.length > 0 ? rows : undefined;
}

export function shownSource(deps: ApiDeps, status: SourceStatus): wire.Source {
  const { fault, held, everyMs } = status;
  return {
    id: status.id,
    kind: status.kind,
    place: status.place,
    configured: status.isConfigured,
    every: everyMs === undefined ? undefined : formatDuration(everyMs),
    pools: status.pools,
    documents: status.documents,
    faulty_documents: status.faulty,
    missing_documents: status.missing,
    last_good_at: toTimeIf(status.lastGoodAt),
    duration: status.durationMs === undefined ? undefined : formatDuration(Math.round(status.durationMs)),
    last_tried_at: toTimeIf(status.lastTriedAt),
    failures: status.failures,
    fault: fault && { kind: fault.kind, message: fault.message, remedy: fault.remedy, at: toTime(fault.at) },
    notes: status.notes.length > 0 ? [...status.notes] : undefined,
    without_prices: withoutPrices(deps, status.id),
    held: held && { at: toTime(held.at), why: held.why, keys: [...held.keys] },
  };
}

/** A source as it is now; nothing where there is none of that id. */
export function sourceNow(deps: ApiDeps, id: string): wire.Source | undefined {
  const status = sourceStatus(statusWorld(deps), id);
  return status && shownSource(deps, status);
}

/** Its text is never shown: it may hold secrets. */
export function shownDocument(
  { source, key, version, readAt, pool, missed, fault }: DocumentState,
  { view }: Store,
): wire.SourceDocument {
  const name = pool === undefined ? undefined : (view.pools.get(pool)?.name ?? pool);
  const shown = fault && { ...fault, problems: fault.problems && [...fault.problems] };
  return {
    key,
    version,
    read_at: toTimeIf(readAt),
    team: teamOf({ view }, source, key),
    pool: name,
    missed,
    fault: shown,
  };
}

export function shownOutcome(outcome: SyncOutcome, redactText: ApiDeps['redactText']): wire.SourceSync['outcome'] {
  const { fault, created, changed, removing, held, waiting, ...counts } = outcome;
  return {
    ...counts,
    created: [...created],
    changed: [...changed],
    removing: [...removing],
    held: [...held],
    waiting: [...waiting],
    fault: fault && { kind: fault.kind, message: redactText(fault.message), remedy: fault.remedy },
  };
}

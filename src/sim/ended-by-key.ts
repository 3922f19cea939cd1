import type { Session } from '#core/session.ts';
import type { Change, HistoryQueries } from '#core/store.ts';

/** Finds ended sessions by the key of their request, as an index of a database does: the disk in memory has none. */
export interface EndedByKey {
  written(changes: readonly Change[]): void;
  over(history: HistoryQueries): HistoryQueries;
}

export function indexEnded(): EndedByKey {
  const byKey = new Map<string, Session>();
  return {
    written(changes) {
      for (const change of changes) {
        if ('append' in change && change.append === 'ended' && change.row.key !== undefined) {
          byKey.set(change.row.key, change.row);
        }
      }
    },
    over: (history) => ({
      ...history,
      async ended(filter, page) {
        if (filter.key === undefined) return history.ended(filter, page);
        const found = byKey.get(filter.key);
        return found ? [found] : [];
      },
    }),
  };
}

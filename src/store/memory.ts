import { Fault } from '#core/fault.ts';
import type { Change, Histories, HistoryName, HistoryQueries, Page, RowOf, TableName } from '#core/store.ts';
import type { Driver } from './driver.ts';

/** What a simulated disk holds; hand it to a new driver to restart the world from it. */
export interface Disk {
  cluster: string;
  epoch: number;
  readonly rows: Map<TableName, Map<string, RowOf<TableName>>>;
  readonly histories: { readonly [H in HistoryName]: Histories[H][] };
}

export function emptyDisk(cluster = 'cluster1'): Disk {
  return { cluster, epoch: 0, rows: new Map(), histories: { events: [], decisions: [], ended: [], output: [] } };
}

function pageOf<R extends { id: string }>(rows: readonly R[], { after, limit, order }: Page): R[] {
  const sorted = rows.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  if (order === 'newest first') sorted.reverse();
  const isPast = (row: R): boolean =>
    after === undefined || (order === 'oldest first' ? row.id > after : row.id < after);
  return sorted.filter(isPast).slice(0, limit);
}

const matches = (wanted: string | undefined, found: string | undefined): boolean =>
  wanted === undefined || wanted === found;

function queries({ histories }: Disk): HistoryQueries {
  return {
    events: async (filter, page) =>
      pageOf(
        histories.events.filter(
          (e) => matches(filter.pool, e.pool) && matches(filter.kind, e.kind) && matches(filter.subject, e.subject),
        ),
        page,
      ),
    decisions: async ({ pool }, page) =>
      pageOf(
        histories.decisions.filter((d) => d.pool === pool),
        page,
      ),
    ended: async (filter, page) =>
      pageOf(
        histories.ended.filter(
          (s) => matches(filter.pool, s.pool) && matches(filter.id, s.id) && matches(filter.key, s.key),
        ),
        page,
      ),
    output: async ({ session, attempt, afterSeq = 0 }, limit) =>
      histories.output
        .filter((c) => c.session === session && (attempt === undefined || c.attempt === attempt) && c.seq > afterSeq)
        .toSorted((a, b) => a.attempt - b.attempt || a.seq - b.seq)
        .slice(0, limit),
    async forget(name, before, limit) {
      const rows = histories[name] as { at?: number; end?: { at: number } }[];
      const isOld = (row: { at?: number; end?: { at: number } }): boolean => (row.at ?? row.end?.at ?? 0) < before;
      let gone = 0;
      for (let at = rows.length - 1; at >= 0 && gone < limit; at--) {
        if (isOld(rows[at] as { at?: number })) {
          rows.splice(at, 1);
          gone += 1;
        }
      }
      return gone;
    },
  };
}

/** Keeps everything in `disk`, at once. `beforeWrite` may reject (a crash) or wait (a slow disk). */
export function memoryDriver(
  disk: Disk = emptyDisk(),
  beforeWrite?: (changes: readonly Change[]) => Promise<void>,
): Driver {
  return {
    async load() {
      disk.epoch += 1;
      const rows = new Map([...disk.rows].map(([name, byId]) => [name, [...byId.values()]] as const));
      return { cluster: disk.cluster, epoch: disk.epoch, restoredAt: undefined, rows };
    },
    async write(changes) {
      await beforeWrite?.(changes);
      for (const change of changes) {
        if ('append' in change) {
          (disk.histories[change.append] as unknown[]).push(change.row);
          continue;
        }
        const table = disk.rows.get(change.table) ?? new Map<string, RowOf<TableName>>();
        disk.rows.set(change.table, table);
        if (change.row) table.set(change.id, change.row);
        else table.delete(change.id);
      }
    },
    history: queries(disk),
    leaseLeftMs: () => Number.POSITIVE_INFINITY,
    backup: () => Promise.reject(new Fault('unsupported', 'The store in memory cannot be backed up.')),
    close: async () => {},
  };
}

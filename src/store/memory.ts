import { Fault } from '#core/fault.ts';
import type { Change, Histories, HistoryName, HistoryQueries, Page, RowOf, TableName } from '#core/store.ts';
import type { Driver } from './driver.ts';
import { checkedLimit } from './queries.ts';

/** What a simulated disk holds; hand it to a new driver to restart the world from it. */
export interface Disk {
  cluster: string;
  epoch: number;
  /** Set it to make the next start one from a backup. */
  restoredAt?: number | undefined;
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
  return sorted.filter(isPast).slice(0, checkedLimit(limit));
}

const matches = (wanted: string | undefined, found: string | undefined): boolean =>
  wanted === undefined || wanted === found;

type HistoryRow = Histories[HistoryName];

const timeOf = (row: HistoryRow): number => ('acceptedAt' in row ? (row.end?.at ?? row.acceptedAt) : row.at);

const keyOf = (row: HistoryRow): string => ('id' in row ? row.id : `${row.session}\n${row.attempt}\n${row.seq}`);

/** Takes the oldest away, keeping the order of the others. */
function forget(rows: HistoryRow[], before: number, limit: number): HistoryRow[] {
  const old = rows.filter((row) => timeOf(row) < before).sort((a, b) => timeOf(a) - timeOf(b));
  const gone = new Set(old.slice(0, limit));
  if (gone.size === 0) return [];
  let kept = 0;
  for (const row of rows) if (!gone.has(row)) rows[kept++] = row;
  rows.length = kept;
  return [...gone];
}

function queries({ histories }: Disk, forgotten: (name: HistoryName, rows: HistoryRow[]) => void): HistoryQueries {
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
        .slice(0, checkedLimit(limit)),
    async forget(name, before, limit) {
      const gone = forget(histories[name], before, limit);
      forgotten(name, gone);
      return gone.length;
    },
  };
}

function isNew(keys: Set<string>, key: string): boolean {
  const before = keys.size;
  return keys.add(key).size > before;
}

/** The keys of what is kept, since a history row that comes again is the same row. */
function knownKeys({ histories }: Disk) {
  const known = new Map<HistoryName, Set<string>>();
  const keys = (name: HistoryName): Set<string> => {
    const found = known.get(name) ?? new Set(histories[name].map(keyOf));
    known.set(name, found);
    return found;
  };
  return {
    /** False where it is known already. */
    add: (name: HistoryName, row: HistoryRow): boolean => isNew(keys(name), keyOf(row)),
    drop(name: HistoryName, rows: readonly HistoryRow[]): void {
      for (const row of rows) keys(name).delete(keyOf(row));
    },
  };
}

/** Keeps everything in `disk`, at once. `beforeWrite` may reject (a crash) or wait (a slow disk). */
export function memoryDriver(
  disk: Disk = emptyDisk(),
  beforeWrite?: (changes: readonly Change[]) => Promise<void>,
): Driver {
  const known = knownKeys(disk);

  function apply(change: Change): void {
    if ('append' in change) {
      if (known.add(change.append, change.row)) (disk.histories[change.append] as HistoryRow[]).push(change.row);
      return;
    }
    const table = disk.rows.get(change.table) ?? new Map<string, RowOf<TableName>>();
    disk.rows.set(change.table, table);
    if (change.row) table.set(change.id, change.row);
    else table.delete(change.id);
  }

  return {
    async load() {
      disk.epoch += 1;
      const rows = new Map([...disk.rows].map(([name, byId]) => [name, [...byId.values()]] as const));
      return { cluster: disk.cluster, epoch: disk.epoch, restoredAt: disk.restoredAt, rows };
    },
    async write(changes) {
      await beforeWrite?.(changes);
      for (const change of changes) apply(change);
    },
    history: queries(disk, known.drop),
    leaseLeftMs: () => Number.POSITIVE_INFINITY,
    backup: () => Promise.reject(new Fault('unsupported', 'The store in memory cannot be backed up.')),
    close: async () => {},
  };
}

import { Fault } from '#core/fault.ts';
import {
  type Change,
  HISTORIES,
  type Histories,
  type HistoryName,
  type HistoryQueries,
  type Page,
  type RowOf,
  type TableName,
} from '#core/store.ts';
import type { HistoryRule, HistoryRules, Piece, Row } from '#core/table.ts';
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

export function emptyDisk(cluster = 'cluster1', histories: HistoryRules = HISTORIES): Disk {
  const empty = Object.fromEntries(Object.keys(histories).map((name) => [name, []]));
  return { cluster, epoch: 0, rows: new Map(), histories: empty as unknown as Disk['histories'] };
}

function pageOf<R extends Row>(rows: readonly R[], { after, limit, order }: Page): R[] {
  const sorted = rows.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  if (order === 'newest first') sorted.reverse();
  const isPast = (row: R): boolean =>
    after === undefined || (order === 'oldest first' ? row.id > after : row.id < after);
  return sorted.filter(isPast).slice(0, checkedLimit(limit));
}

type Columns = Readonly<Record<string, unknown>>;

/** A history in memory: how it is asked, and the key and the time of its rows. */
interface MemoryHistory {
  ask(rows: readonly never[], filter: Columns, page: never): readonly unknown[];
  keyOf(row: never): string;
  timeOf(row: never): number;
}

function memoryHistory(rule: HistoryRule): MemoryHistory {
  if (rule.is === 'records') {
    const finds = Object.entries({ ...rule.finds, id: ({ id }: Row) => id }) as [string, (row: Row) => unknown][];
    return {
      ask(rows: readonly Row[], filter, page: Page) {
        const asked = finds.filter(([column]) => filter[column] !== undefined);
        return pageOf(
          rows.filter((row) => asked.every(([column, find]) => find(row) === filter[column])),
          page,
        );
      },
      keyOf: ({ id }: Row) => id,
      timeOf: rule.at,
    };
  }
  const key = [...rule.numbers, 'seq'] as readonly string[];
  const equal = [rule.of, ...rule.numbers] as readonly string[];
  const compare = (a: Columns, b: Columns): number => {
    const differing = key.find((column) => a[column] !== b[column]);
    return differing === undefined ? 0 : (a[differing] as number) - (b[differing] as number);
  };
  return {
    ask(rows: readonly (Piece & Columns)[], filter, limit: number) {
      const isAsked = (row: Columns): boolean =>
        equal.every((column) => filter[column] === undefined || row[column] === filter[column]);
      const afterSeq = (filter.afterSeq as number | undefined) ?? 0;
      return rows
        .filter((row) => isAsked(row) && row.seq > afterSeq)
        .toSorted(compare)
        .slice(0, checkedLimit(limit));
    },
    keyOf: (row: Columns) => [rule.of, ...key].map((column) => row[column]).join('\n'),
    timeOf: ({ at }: Piece) => at,
  };
}

type HistoryRow = Histories[HistoryName];

interface Oldest {
  readonly before: number;
  readonly limit: number;
  /** The rows stand in the order of their times. */
  readonly isInOrder: boolean;
}

/** Takes the oldest away, keeping the order of the others. */
function forget(rows: HistoryRow[], timeOf: (row: never) => number, oldest: Oldest) {
  const time = timeOf as (row: HistoryRow) => number;
  if (oldest.isInOrder) {
    const firstKept = rows.findIndex((row, at) => at >= oldest.limit || time(row) >= oldest.before);
    return rows.splice(0, firstKept < 0 ? rows.length : firstKept);
  }
  const old = rows.filter((row) => time(row) < oldest.before).sort((a, b) => time(a) - time(b));
  const gone = new Set(old.slice(0, oldest.limit));
  if (gone.size === 0) return [];
  let kept = 0;
  for (const row of rows) if (!gone.has(row)) rows[kept++] = row;
  rows.length = kept;
  return [...gone];
}

const later = (latestMs: number, ms: number): number => (ms >= latestMs ? ms : Number.NaN);

function isNew(keys: Set<string>, key: string): boolean {
  const before = keys.size;
  return keys.add(key).size > before;
}

/** Which rows of a history are kept, so that one that comes again is known for the same. */
interface KnownKeys {
  /** Most histories grow in the order of their keys: what lies beyond the highest is new. */
  highest: string;
  /** All of them, from the first on that came out of order. */
  all: Set<string> | undefined;
}

function takesAsNew(known: KnownKeys, key: string, keys: () => Iterable<string>): boolean {
  if (key > known.highest) {
    known.highest = key;
    known.all?.add(key);
    return true;
  }
  known.all ??= new Set(keys());
  return isNew(known.all, key);
}

/** The histories of a disk. A row that comes again is the same row. */
function memoryHistories(disk: Disk, rules: HistoryRules) {
  const histories = new Map(Object.entries(rules).map(([name, rule]) => [name, memoryHistory(rule)]));
  const known = new Map<string, KnownKeys>();
  // The time of the newest row while all stand in order; not a number once one came late.
  const latest = new Map<string, number>();

  function rowsOf(name: string): HistoryRow[] {
    return disk.histories[name as HistoryName] as HistoryRow[];
  }

  function* keysIn(name: string, { keyOf }: MemoryHistory): Iterable<string> {
    for (const row of rowsOf(name)) yield keyOf(row as never);
  }

  function knownOf(name: string, history: MemoryHistory): KnownKeys {
    let found = known.get(name);
    if (!found) {
      let highest = '';
      for (const key of keysIn(name, history)) if (key > highest) highest = key;
      found = { highest, all: undefined };
      known.set(name, found);
    }
    return found;
  }

  function latestOf(name: string, { timeOf }: MemoryHistory): number {
    return (
      latest.get(name) ?? rowsOf(name).reduce((ms, row) => later(ms, timeOf(row as never)), Number.NEGATIVE_INFINITY)
    );
  }

  const queries = [...histories].map(([name, history]) => {
    return [name, async (filter: Columns, page: never) => history.ask(rowsOf(name) as never[], filter, page)];
  });

  return {
    append(name: HistoryName, row: HistoryRow): void {
      const history = histories.get(name) as MemoryHistory;
      const key = history.keyOf(row as never);
      if (!takesAsNew(knownOf(name, history), key, () => keysIn(name, history))) return;
      latest.set(name, later(latestOf(name, history), history.timeOf(row as never)));
      rowsOf(name).push(row);
    },
    queries: {
      ...Object.fromEntries(queries),
      async forget(name: HistoryName, before: number, limit: number) {
        const history = histories.get(name) as MemoryHistory;
        const isInOrder = !Number.isNaN(latestOf(name, history));
        const gone = forget(rowsOf(name), history.timeOf, { before, limit, isInOrder });
        const keys = known.get(name)?.all;
        if (keys) for (const row of gone) keys.delete(history.keyOf(row as never));
        return gone.length;
      },
    } as HistoryQueries,
  };
}

/** Keeps everything in `disk`, at once. `beforeWrite` may reject (a crash) or wait (a slow disk). */
export function memoryDriver(
  disk: Disk = emptyDisk(),
  beforeWrite?: (changes: readonly Change[]) => Promise<void>,
  rules: HistoryRules = HISTORIES,
): Driver {
  const histories = memoryHistories(disk, rules);

  function apply(change: Change): void {
    if ('append' in change) {
      histories.append(change.append, change.row);
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
      if (beforeWrite) await beforeWrite(changes);
      for (const change of changes) apply(change);
    },
    history: histories.queries,
    leaseLeftMs: () => Number.POSITIVE_INFINITY,
    backup: () => Promise.reject(new Fault('unsupported', 'The store in memory cannot be backed up.')),
    close: async () => {},
  };
}

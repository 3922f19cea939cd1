import { type IndexOf, type RowOf, TABLES, type TableName, type View } from '#core/store.ts';

/** A table in memory with its indexes; `set` answers the row that was there before. */
export interface MemoryTable<T extends TableName> extends View<T> {
  set(id: string, row: RowOf<T> | undefined): RowOf<T> | undefined;
}

/**
 * Where a row stands, in its table and in all indexes. V8 chains each outgrown table of a `Map` to the next. One of them
 * that has grown old keeps all that came after it alive until the next full collection; of rows that came and went in
 * between it keeps empty cells.
 */
interface Cell<R> {
  row: R | undefined;
}

interface Index<R> {
  add(key: string, id: string, cell: Cell<R>): void;
  delete(key: string, id: string, cell: Cell<R>): void;
  rows(key: string): Iterable<R>;
  count(key: string): number;
}

function* rowsIn<R>(cells: Map<string, Cell<R>>): Generator<R, void, undefined> {
  for (const { row } of cells.values()) if (row !== undefined) yield row;
}

/** Most keys of most indexes have one row: it is filed as it is, and a map is made only for the second. */
function memoryIndex<R extends { readonly id: string }>(): Index<R> {
  const filed = new Map<string, Cell<R> | Map<string, Cell<R>>>();
  return {
    add(key, id, cell) {
      const found = filed.get(key);
      if (found === undefined) filed.set(key, cell);
      else if (found instanceof Map) found.set(id, cell);
      else filed.set(key, new Map().set(found.row?.id, found).set(id, cell));
    },
    delete(key, id, cell) {
      const found = filed.get(key);
      if (found instanceof Map) found.delete(id);
      if (found instanceof Map ? found.size === 0 : found === cell) filed.delete(key);
    },
    rows(key) {
      const found = filed.get(key);
      if (found instanceof Map) return rowsIn(found);
      return found?.row === undefined ? [] : [found.row];
    },
    count(key) {
      const found = filed.get(key);
      if (found === undefined) return 0;
      return found instanceof Map ? found.size : 1;
    },
  };
}

export function memoryTable<T extends TableName>(name: T): MemoryTable<T> {
  type R = RowOf<T>;
  const cells = new Map<string, Cell<R>>();
  const keysOf = Object.entries(TABLES[name].indexes) as [IndexOf<T>, (row: R) => string | undefined][];
  const indexes = keysOf.map(([index, keyOf]) => ({ index, keyOf, filed: memoryIndex<R>() }));
  const filedBy = new Map(indexes.map(({ index, filed }) => [index, filed]));

  function refile(id: string, cell: Cell<R>, row: R | undefined): void {
    for (const { keyOf, filed } of indexes) {
      const oldKey = cell.row && keyOf(cell.row);
      const newKey = row && keyOf(row);
      if (oldKey === newKey) continue;
      if (oldKey !== undefined) filed.delete(oldKey, id, cell);
      if (newKey !== undefined) filed.add(newKey, id, cell);
    }
  }

  return {
    get: (id) => cells.get(id)?.row,
    by: (index, key) => filedBy.get(index)?.rows(key) ?? [],
    count: (index, key) => filedBy.get(index)?.count(key) ?? 0,
    all: () => rowsIn(cells),
    get size() {
      return cells.size;
    },
    set(id, row) {
      const found = cells.get(id);
      if (!(found || row)) return undefined;
      const cell: Cell<R> = found ?? { row: undefined };
      const before = cell.row;
      refile(id, cell, row);
      cell.row = row;
      if (!row) cells.delete(id);
      else if (!found) cells.set(id, cell);
      return before;
    },
  };
}

export type MemoryTables = { readonly [T in TableName]: MemoryTable<T> };

export function memoryTables(): MemoryTables {
  const tables = (Object.keys(TABLES) as TableName[]).map((name) => [name, memoryTable(name)]);
  return Object.fromEntries(tables) as MemoryTables;
}

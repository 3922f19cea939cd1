import { type IndexOf, type RowOf, TABLES, type TableName, type View } from '#core/store.ts';

/** A table in memory with its indexes; `set` answers the row that was there before. */
export interface MemoryTable<T extends TableName> extends View<T> {
  set(id: string, row: RowOf<T> | undefined): RowOf<T> | undefined;
}

interface Index<R> {
  set(key: string, row: R): void;
  delete(key: string, id: string): void;
  rows(key: string): Iterable<R>;
  count(key: string): number;
}

/** Most keys of most indexes have one row: it is filed as it is, and a map is made only for the second. */
function memoryIndex<R extends { readonly id: string }>(): Index<R> {
  const filed = new Map<string, R | Map<string, R>>();
  return {
    set(key, row) {
      const found = filed.get(key);
      if (found instanceof Map) found.set(row.id, row);
      else if (found === undefined || found.id === row.id) filed.set(key, row);
      else filed.set(key, new Map().set(found.id, found).set(row.id, row));
    },
    delete(key, id) {
      const found = filed.get(key);
      if (found instanceof Map) found.delete(id);
      if (found instanceof Map ? found.size === 0 : found?.id === id) filed.delete(key);
    },
    rows(key) {
      const found = filed.get(key);
      if (found === undefined) return [];
      return found instanceof Map ? found.values() : [found];
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
  const rows = new Map<string, R>();
  const keysOf = Object.entries(TABLES[name].indexes) as [IndexOf<T>, (row: R) => string | undefined][];
  const indexes = keysOf.map(([index, keyOf]) => ({ index, keyOf, filed: memoryIndex<R>() }));
  const filedBy = new Map(indexes.map(({ index, filed }) => [index, filed]));

  return {
    get: (id) => rows.get(id),
    by: (index, key) => filedBy.get(index)?.rows(key) ?? [],
    count: (index, key) => filedBy.get(index)?.count(key) ?? 0,
    all: () => rows.values(),
    get size() {
      return rows.size;
    },
    set(id, row) {
      const before = rows.get(id);
      for (const { keyOf, filed } of indexes) {
        const oldKey = before && keyOf(before);
        const newKey = row && keyOf(row);
        if (oldKey !== undefined && oldKey !== newKey) filed.delete(oldKey, id);
        if (row && newKey !== undefined) filed.set(newKey, row);
      }
      if (row) rows.set(id, row);
      else rows.delete(id);
      return before;
    },
  };
}

export type MemoryTables = { readonly [T in TableName]: MemoryTable<T> };

export function memoryTables(): MemoryTables {
  const tables = (Object.keys(TABLES) as TableName[]).map((name) => [name, memoryTable(name)]);
  return Object.fromEntries(tables) as MemoryTables;
}

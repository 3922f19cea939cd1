import { type IndexOf, type RowOf, TABLES, type TableName, type View } from '#core/store.ts';

/** A table in memory with its indexes; `set` answers the row that was there before. */
export interface MemoryTable<T extends TableName> extends View<T> {
  set(id: string, row: RowOf<T> | undefined): RowOf<T> | undefined;
}

export function memoryTable<T extends TableName>(name: T): MemoryTable<T> {
  type R = RowOf<T>;
  const rows = new Map<string, R>();
  const keysOf = Object.entries(TABLES[name].indexes) as [string, (row: R) => string | undefined][];
  const indexes = new Map(keysOf.map(([index]) => [index, new Map<string, Map<string, R>>()]));

  function file(index: string, key: string, row: R): void {
    const byKey = indexes.get(index) as Map<string, Map<string, R>>;
    const filed = byKey.get(key);
    if (filed) filed.set(row.id, row);
    else byKey.set(key, new Map([[row.id, row]]));
  }

  function unfile(index: string, key: string, id: string): void {
    const byKey = indexes.get(index) as Map<string, Map<string, R>>;
    const filed = byKey.get(key);
    if (filed?.delete(id) && filed.size === 0) byKey.delete(key);
  }

  return {
    get: (id) => rows.get(id),
    by: (index: IndexOf<T>, key) => indexes.get(index)?.get(key)?.values() ?? [],
    count: (index: IndexOf<T>, key) => indexes.get(index)?.get(key)?.size ?? 0,
    all: () => rows.values(),
    get size() {
      return rows.size;
    },
    set(id, row) {
      const before = rows.get(id);
      for (const [index, keyOf] of keysOf) {
        const oldKey = before && keyOf(before);
        const newKey = row && keyOf(row);
        if (oldKey !== undefined && oldKey !== newKey) unfile(index, oldKey, id);
        if (row && newKey !== undefined) file(index, newKey, row);
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

import type { RowOf, TableName } from '#core/store.ts';
import type { Disk } from '#store/memory.ts';

/** What a table on the disk holds under that id: all that a restart would find. */
export function rowOn<T extends TableName>(disk: Disk, table: T, id: string): RowOf<T> | undefined {
  return disk.rows.get(table)?.get(id) as RowOf<T> | undefined;
}

export function* rowsOn<T extends TableName>(disk: Disk, table: T): Iterable<RowOf<T>> {
  for (const row of disk.rows.get(table)?.values() ?? []) yield row as RowOf<T>;
}

import { openSecrets } from '#access/secrets.ts';
import { seededRandom } from '#core/random.ts';
import type { RowOf, TableName } from '#core/store.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { type Disk, emptyDisk, memoryDriver } from '#store/memory.ts';
import { openStore } from '#store/store.ts';

let made: Promise<Disk> | undefined;

async function makeSecrets(): Promise<Disk> {
  const disk = emptyDisk();
  const store = await openStore(memoryDriver(disk), () => {});
  await openSecrets(store, new VirtualClock(), seededRandom(1));
  return disk;
}

/** A disk with nothing but the secrets of its cluster, which are made once: that takes longer than all the rest of a short world. */
export async function diskWithSecrets(): Promise<Disk> {
  made ??= makeSecrets();
  const { rows } = await made;
  const disk = emptyDisk();
  disk.rows.set('secrets', new Map(rows.get('secrets')));
  return disk;
}

/** What a table on the disk holds under that id: all that a restart would find. */
export function rowOn<T extends TableName>(disk: Disk, table: T, id: string): RowOf<T> | undefined {
  return disk.rows.get(table)?.get(id) as RowOf<T> | undefined;
}

export function* rowsOn<T extends TableName>(disk: Disk, table: T): Iterable<RowOf<T>> {
  for (const row of disk.rows.get(table)?.values() ?? []) yield row as RowOf<T>;
}

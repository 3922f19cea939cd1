import type { Fault } from '#core/fault.ts';
import { type Change, type RowOf, type Store, TABLES, type TableName } from '#core/store.ts';
import type { Driver, Loaded } from './driver.ts';
import { groupCommit } from './group-commit.ts';
import { type MemoryTable, type MemoryTables, memoryTables } from './view.ts';

type Heard = (after: never, before: never, id: string) => void;

const isDurable = (change: Change): boolean => 'append' in change || !('volatile' in TABLES[change.table]);

function filled({ rows }: Loaded): MemoryTables {
  const tables = memoryTables();
  for (const [name, found] of rows) {
    const table = tables[name] as MemoryTable<TableName>;
    for (const row of found) table.set(row.id, row);
  }
  return tables;
}

/**
 * Live records in memory, durable behind: commits apply at once and wait together for the next transaction.
 * `fatal` is called once when a write fails: memory then holds what the database never saw, so the process must end.
 */
export async function openStore(driver: Driver, fatal: (fault: Fault) => void): Promise<Store> {
  const loaded = await driver.load();
  const tables = filled(loaded);
  // Replaced as a whole when someone subscribes or leaves: who is told of a change is fixed before it is told.
  const changeListeners = new Map<TableName, readonly Heard[]>();
  let durableListeners: readonly ((changes: readonly Change[]) => void)[] = [];
  const group = groupCommit({
    gather: () => driver.gather?.(),
    async write(changes) {
      const lasting = changes.every(isDurable) ? changes : changes.filter(isDurable);
      if (lasting.length > 0) await driver.write(lasting);
    },
    durable(changes) {
      for (const heard of durableListeners) heard(changes);
    },
    fatal,
  });

  function apply(change: Change): void {
    if ('append' in change) return;
    const before = (tables[change.table] as MemoryTable<TableName>).set(change.id, change.row);
    const listeners = changeListeners.get(change.table);
    if (listeners) for (const heard of listeners) heard(change.row as never, before as never, change.id);
  }

  return {
    view: tables,
    history: driver.history,
    cluster: loaded.cluster,
    epoch: loaded.epoch,
    restoredAt: loaded.restoredAt,
    commit(changes) {
      if (group.isOver()) return group.refused();
      try {
        for (const change of changes) {
          // Before it is applied, so that a listener who commits in turn stands behind it in the database too.
          group.add(change);
          apply(change);
        }
      } catch (thrown) {
        group.fail(thrown);
      }
      return group.durable();
    },
    durable: () => group.durable(),
    onChange<T extends TableName>(
      name: T,
      heard: (after: RowOf<T> | undefined, before: RowOf<T> | undefined, id: string) => void,
    ) {
      const mine: Heard = (after, before, id) => heard(after, before, id);
      changeListeners.set(name, [...(changeListeners.get(name) ?? []), mine]);
      return () => {
        const others = changeListeners.get(name)?.filter((one) => one !== mine) ?? [];
        changeListeners.set(name, others);
      };
    },
    onDurable(heard) {
      const mine = (changes: readonly Change[]): void => heard(changes);
      durableListeners = [...durableListeners, mine];
      return () => {
        durableListeners = durableListeners.filter((one) => one !== mine);
      };
    },
    leaseLeftMs: () => driver.leaseLeftMs(),
    backup: (file) => driver.backup(file),
    async close() {
      await group.close();
      await driver.close();
    },
  };
}

import { Fault } from '#core/fault.ts';
import type { Change, RowOf, Store, TableName } from '#core/store.ts';
import { TABLES } from '#core/store.ts';
import type { Driver } from './driver.ts';
import { type MemoryTable, memoryTables } from './view.ts';

interface Waiting {
  readonly changes: readonly Change[];
  readonly resolve: () => void;
  readonly reject: (fault: Fault) => void;
}

type Heard = (after: never, before: never, id: string) => void;

const isDurable = (change: Change): boolean => !('table' in change && 'volatile' in TABLES[change.table]);

/**
 * Live records in memory, durable behind: commits apply at once and wait together for the next transaction.
 * `fatal` is called once when a write fails: memory then holds what the database never saw, so the process must end.
 */
export async function openStore(driver: Driver, fatal: (fault: Fault) => void): Promise<Store> {
  const tables = memoryTables();
  const loaded = await driver.load();
  for (const [name, rows] of loaded.rows) {
    for (const row of rows) (tables[name] as MemoryTable<TableName>).set(row.id, row);
  }
  const changeListeners = new Map<TableName, Set<Heard>>();
  const durableListeners = new Set<(changes: readonly Change[]) => void>();
  let waiting: Waiting[] = [];
  let writing: Promise<void> | undefined;
  let broken: Fault | undefined;

  function apply(change: Change): void {
    if (!('table' in change)) return;
    const before = (tables[change.table] as MemoryTable<TableName>).set(change.id, change.row);
    for (const heard of changeListeners.get(change.table) ?? []) heard(change.row as never, before as never, change.id);
  }

  async function writeAll(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      const changes = batch.flatMap((entry) => entry.changes);
      try {
        await driver.write(changes.filter(isDurable));
      } catch (thrown) {
        return fail(Fault.from(thrown), batch);
      }
      for (const entry of batch) entry.resolve();
      for (const heard of durableListeners) heard(changes);
    }
    writing = undefined;
  }

  function fail(fault: Fault, batch: readonly Waiting[]): void {
    broken = fault;
    for (const entry of [...batch, ...waiting]) entry.reject(fault);
    waiting = [];
    fatal(fault);
  }

  return {
    view: tables,
    history: driver.history,
    cluster: loaded.cluster,
    epoch: loaded.epoch,
    restoredAt: loaded.restoredAt,
    commit(changes) {
      if (broken) return Promise.reject(broken);
      for (const change of changes) apply(change);
      const settled = new Promise<void>((resolve, reject) => waiting.push({ changes, resolve, reject }));
      writing ??= Promise.resolve().then(writeAll);
      return settled;
    },
    durable() {
      if (broken) return Promise.reject(broken);
      if (!writing) return Promise.resolve();
      return new Promise<void>((resolve, reject) => waiting.push({ changes: [], resolve, reject }));
    },
    onChange<T extends TableName>(
      name: T,
      heard: (after: RowOf<T> | undefined, before: RowOf<T> | undefined, id: string) => void,
    ) {
      const listeners = changeListeners.get(name) ?? new Set();
      changeListeners.set(name, listeners.add(heard as Heard));
      return () => void listeners.delete(heard as Heard);
    },
    onDurable(heard) {
      durableListeners.add(heard);
      return () => void durableListeners.delete(heard);
    },
    leaseLeftMs: () => driver.leaseLeftMs(),
    backup: (file) => driver.backup(file),
    async close() {
      await writing?.catch(() => {});
      await driver.close();
    },
  };
}

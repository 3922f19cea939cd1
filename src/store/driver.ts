import type { Change, HistoryQueries, RowOf, TableName } from '#core/store.ts';

/** What a database starts with: who the cluster is, under which epoch this process holds it, and every live row. */
export interface Loaded {
  readonly cluster: string;
  readonly epoch: number;
  readonly restoredAt: number | undefined;
  readonly rows: ReadonlyMap<TableName, readonly RowOf<TableName>[]>;
}

/** One database, opened and held. */
export interface Driver {
  load(): Promise<Loaded>;
  /** Resolves when a transaction should begin with what was committed until then; absent: at the end of the microtasks. */
  gather?(): Promise<void>;
  /** One transaction; resolves when durable. A rejection means that this process must end. */
  write(changes: readonly Change[]): Promise<void>;
  readonly history: HistoryQueries;
  leaseLeftMs(): number;
  backup(file: string): Promise<void>;
  close(): Promise<void>;
}

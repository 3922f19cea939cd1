import type { QueriesOf } from './table.ts';
import { HISTORIES, TABLES } from './tables.gen.ts';

export type { Page, Row } from './table.ts';
export { HISTORIES, TABLES };

export type TableName = keyof typeof TABLES;
export type RowOf<T extends TableName> = NonNullable<(typeof TABLES)[T]['row']>;
export type IndexOf<T extends TableName> = keyof (typeof TABLES)[T]['indexes'] & string;

/** A table in memory; reads are synchronous and see every commit at once. */
export interface View<T extends TableName> {
  get(id: string): RowOf<T> | undefined;
  /** In order of insertion. Safe to write the table meanwhile. */
  by(index: IndexOf<T>, key: string): Iterable<RowOf<T>>;
  count(index: IndexOf<T>, key: string): number;
  all(): Iterable<RowOf<T>>;
  readonly size: number;
}

/** What is only appended, asked for seldom, and deleted after its retention. */
export type Histories = { [H in keyof typeof HISTORIES]: NonNullable<(typeof HISTORIES)[H]['row']> };
export type HistoryName = keyof Histories;

export type Change =
  | {
      readonly [T in TableName]: { readonly table: T; readonly id: string; readonly row: RowOf<T> | undefined };
    }[TableName]
  | { readonly [H in HistoryName]: { readonly append: H; readonly row: Histories[H] } }[HistoryName];

export function put<T extends TableName>(name: T, row: RowOf<T>): Change {
  return { table: name, id: row.id, row } as Change;
}

export function drop(name: TableName, id: string): Change {
  return { table: name, id, row: undefined } as Change;
}

export function append<H extends HistoryName>(name: H, row: Histories[H]): Change {
  return { append: name, row } as Change;
}

export type HistoryQueries = QueriesOf<typeof HISTORIES>;

export interface Store {
  readonly view: { readonly [T in TableName]: View<T> };
  readonly history: HistoryQueries;
  /** Who we are to the clouds: made at first start, kept for ever. */
  readonly cluster: string;
  /** Grows with each change of holder. */
  readonly epoch: number;
  /** Machines older than this that we do not know are adopted: the database was restored from a backup. */
  readonly restoredAt: number | undefined;
  /** Applies to memory at once, in order; resolves when durable. Nothing may leave the process before that. */
  commit(changes: readonly Change[]): Promise<void>;
  /** Resolves when everything committed so far is durable. */
  durable(): Promise<void>;
  /** Called at once for each row put or dropped, in order; it must not throw and should only poke. */
  onChange<T extends TableName>(
    name: T,
    heard: (after: RowOf<T> | undefined, before: RowOf<T> | undefined, id: string) => void,
  ): () => void;
  /** Called after a batch is durable. */
  onDurable(heard: (changes: readonly Change[]) => void): () => void;
  /** How long this process may still act as the holder; Infinity where there can be no other. */
  leaseLeftMs(): number;
  /** A consistent copy of everything in one SQLite file, from which a server can start. */
  backup(file: string): Promise<void>;
  close(): Promise<void>;
}

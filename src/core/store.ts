import type { Secret, Token } from './access.ts';
import type { DecisionRow, EventRow } from './journal.ts';
import type { Offer, Pool } from './pool.ts';
import type { OutputChunk, Session } from './session.ts';
import type { DocumentState, SourceState } from './source.ts';
import type { Agent, Freeze, LaunchRecord, Worker } from './worker.ts';

export interface Row {
  readonly id: string;
}

interface TableRule<R extends Row> {
  /** The only folder that may write it. */
  readonly writer: string;
  /** Kept in memory alone. */
  readonly volatile?: true;
  readonly indexes: Readonly<Record<string, (row: R) => string | undefined>>;
}

const table =
  <R extends Row>() =>
  <T extends TableRule<R>>(rule: T): T & { readonly row?: R } =>
    rule;

/** Live records: all of them are in memory to read, and durable before anything follows from them. */
export const TABLES = {
  pools: table<Pool>()({ writer: 'pools', indexes: { name: (p) => p.name, source: (p) => p.owner.source } }),
  sources: table<SourceState>()({ writer: 'pools', indexes: {} }),
  documents: table<DocumentState>()({ writer: 'pools', indexes: { source: (d) => d.source } }),
  offers: table<Offer>()({ writer: 'workers', indexes: {} }),
  workers: table<Worker>()({
    writer: 'workers',
    indexes: { pool: (w) => w.pool, launch: (w) => w.launch, machine: (w) => w.machine, offer: (w) => w.offer },
  }),
  launches: table<LaunchRecord>()({ writer: 'workers', indexes: { pool: (l) => l.pool } }),
  agents: table<Agent>()({ writer: 'workers', volatile: true, indexes: { pool: (a) => a.pool } }),
  freezes: table<Freeze>()({ writer: 'workers', indexes: {} }),
  sessions: table<Session>()({
    writer: 'sessions',
    indexes: {
      pool: (s) => s.pool,
      worker: (s) => s.worker,
      key: (s) => s.key,
      queue: (s) => (s.worker === undefined ? s.pool : undefined),
    },
  }),
  tokens: table<Token>()({ writer: 'access', indexes: { hash: (t) => t.hash } }),
  secrets: table<Secret>()({ writer: 'access', indexes: {} }),
} as const;

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

/** What is only appended, asked for seldom, and forgotten after its retention. */
export interface Histories {
  events: EventRow;
  decisions: DecisionRow;
  ended: Session;
  output: OutputChunk;
}
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

export interface Page {
  /** Ids after this one in the order asked for. */
  readonly after?: string | undefined;
  readonly limit: number;
  readonly order: 'oldest first' | 'newest first';
}

/** Questions to the histories; the answers come from disk, so they are promises. */
export interface HistoryQueries {
  events(
    filter: { pool?: string | undefined; kind?: string | undefined; subject?: string | undefined },
    page: Page,
  ): Promise<readonly EventRow[]>;
  decisions(filter: { pool: string }, page: Page): Promise<readonly DecisionRow[]>;
  ended(
    filter: { pool?: string | undefined; id?: string | undefined; key?: string | undefined },
    page: Page,
  ): Promise<readonly Session[]>;
  output(
    filter: { session: string; attempt?: number | undefined; afterSeq?: number | undefined },
    limit: number,
  ): Promise<readonly OutputChunk[]>;
  /** Forgets what is older; answers how many rows went. */
  forget(name: HistoryName, before: number, limit: number): Promise<number>;
}

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

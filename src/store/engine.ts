// What runs in the database's thread, and how the program speaks to it.
import type { Fault } from '#core/fault.ts';
import type { Level } from '#core/log.ts';
import type { Held, Holder } from './cluster.ts';
import type { HistoryTable } from './history-tables.ts';
import type { Part } from './parts.ts';
import type { PlainFault } from './plain-fault.ts';
import type { PiecesQuestion, Question } from './queries.ts';
import type { SqlRow } from './sql.ts';

export interface LiveRow {
  readonly kind: string;
  readonly id: string;
  readonly body: string;
}

/** One database, as its thread serves it. */
export interface Engine {
  /** Resolves once this process is the holder. */
  hold(): Promise<Held>;
  /** Live rows after that one in the order of kind and id; fewer than asked for are the last. */
  load(after: Pick<LiveRow, 'kind' | 'id'>, limit: number): Promise<readonly LiveRow[]>;
  /** One transaction, parts in order; resolves when durable. */
  write(parts: readonly Part[]): Promise<void>;
  /** Bodies of rows. */
  ask(question: Question): Promise<readonly string[]>;
  /** Rows without the name of their stream. */
  askPieces(question: PiecesQuestion): Promise<readonly SqlRow[]>;
  /** A bounded number of rows; answers how many went. */
  forget(name: string, before: number, limit: number): Promise<number>;
  /** Lets others take the database at once. */
  close(): Promise<void>;
}

/** Messages of the thread that are no answers. */
export interface ThreadListener {
  log(level: Level, message: string, fields: Readonly<Record<string, unknown>>): void;
  /** Who holds the database now, as far as known. */
  holder(holder: Holder | undefined): void;
  /** This process is no longer the holder, or cannot know it. */
  lost(fault: Fault): void;
}

/** The start parameters of a thread; plain data. */
export type Setup = { readonly histories: readonly HistoryTable[] } & (
  | { readonly role: 'sqlite'; readonly directory: string; readonly newCluster: string; readonly advertised: string }
  | {
      readonly role: 'postgres';
      readonly url: string;
      readonly newCluster: string;
      readonly advertised: string;
      /** Two 64-bit numbers on the machine's monotonic clock: when the lease ends, when the program last gave a sign of life. */
      readonly lease: SharedArrayBuffer;
    }
  | { readonly role: 'copy' }
);

/** Work that has a thread of its own, so that commits go on meanwhile. */
export interface Copier {
  backup(from: Target, file: string): Promise<void>;
  restore(file: string, to: Target, restoredAt: number): Promise<void>;
}

export type Target =
  | { readonly kind: 'sqlite'; readonly directory: string }
  | { readonly kind: 'postgres'; readonly url: string };

/** What can be asked of a thread: a transaction comes part by part, `write` brings its last. */
export type EngineCalls = Omit<Engine, 'write'> & {
  add(part: Part): Promise<void>;
  write(last: Part): Promise<void>;
};

export interface ToThread {
  readonly call: number;
  readonly method: string;
  readonly args: readonly unknown[];
}

export type FromThread =
  | { readonly call: number; readonly result: unknown }
  | { readonly call: number; readonly fault: PlainFault }
  | { readonly notice: 'log'; readonly args: Parameters<ThreadListener['log']> }
  | { readonly notice: 'holder'; readonly args: Parameters<ThreadListener['holder']> }
  | { readonly notice: 'lost'; readonly args: readonly [PlainFault] };

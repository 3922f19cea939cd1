// How the records of a noun are declared: `core/<noun>.ts` exports its tables and histories, `core/store.ts` joins them.
import { parseDuration } from './duration.ts';

export interface Row {
  readonly id: string;
}

export interface TableRule<R extends Row> {
  /** The only folder that may write it. */
  readonly writer: string;
  /** Kept in memory alone. */
  readonly volatile?: true;
  /** Decisions about a row have the subject `<subject>/<id>`; the last one is forgotten with the row. */
  readonly subject?: string;
  readonly indexes: Readonly<Record<string, (row: R) => string | undefined>>;
}

/** Declares a table of live rows; it needs no SQL. */
export const table =
  <R extends Row>() =>
  <T extends TableRule<R>>(rule: T): T & { readonly row?: R } =>
    rule;

/** How long a history is kept, by a setting of the section `retention`. */
export interface Retained {
  readonly setting: string;
  readonly default: string;
  readonly about: string;
}

/** Rows with an id, kept whole as JSON, found by the columns named, and read in the order of their ids. */
export interface RecordsRule<R extends Row, F extends string> {
  readonly is: 'records';
  /** The columns that a query can name besides `id`, the most selective first. */
  readonly finds: Readonly<Record<F, (row: R) => string | undefined>>;
  /** Columns that the index of another one holds too. */
  readonly covers?: { readonly [C in NoInfer<F>]?: readonly NoInfer<F>[] };
  /** The time from which it is kept. */
  at(row: R): number;
  readonly kept: Retained;
  readonly row?: R;
}

export const records =
  <R extends Row>() =>
  <F extends string>(rule: Omit<RecordsRule<R, F>, 'is' | 'row'>): RecordsRule<R, F> => ({ is: 'records', ...rule });

/** One piece of a stream of bytes. */
export interface Piece {
  /** Its number within the stream, from 1. */
  readonly seq: number;
  readonly at: number;
  readonly data: Uint8Array;
}

/** Pieces of streams of bytes, read in the order of their numbers. */
export interface PiecesRule<R extends Piece, O extends string, N extends string, T extends string> {
  readonly is: 'pieces';
  /** The field that names the stream. */
  readonly of: O;
  /** Numbers that tell apart several streams of the same name, before `seq`. */
  readonly numbers: readonly N[];
  /** Other fields of a piece. */
  readonly texts: readonly T[];
  readonly kept: Retained;
  readonly row?: R;
}

export const pieces =
  <R extends Piece>() =>
  <O extends keyof R & string, N extends keyof R & string = never, T extends keyof R & string = never>(
    rule: Omit<PiecesRule<R, O, N, T>, 'is' | 'row'>,
  ): PiecesRule<R, O, N, T> => ({ is: 'pieces', ...rule });

/** Any history; what its rows hold is known to those who name it. */
// biome-ignore lint/suspicious/noExplicitAny: the columns are functions of rows of any kind
export type HistoryRule = RecordsRule<any, any> | PiecesRule<any, any, any, any>;

export type HistoryRules = Readonly<Record<string, HistoryRule>>;

/** The retention that holds where no one has set another, in milliseconds. */
export function defaultRetention<H extends HistoryRules>(histories: H): { readonly [N in keyof H]: number } {
  const spans = Object.entries(histories).map(([name, { kept }]) => [name, parseDuration(kept.default)]);
  return Object.fromEntries(spans) as { readonly [N in keyof H]: number };
}

export interface Page {
  /** Ids after this one in the order asked for. */
  readonly after?: string | undefined;
  readonly limit: number;
  readonly order: 'oldest first' | 'newest first';
}

/** How a history is asked. */
export type QueryOf<H> =
  H extends RecordsRule<infer R, infer F>
    ? (filter: { readonly [C in F | 'id']?: string | undefined }, page: Page) => Promise<readonly R[]>
    : H extends PiecesRule<infer R, infer O, infer N, string>
      ? (
          filter: { readonly [C in O]: string } & { readonly [C in N]?: number | undefined } & {
            readonly afterSeq?: number | undefined;
          },
          limit: number,
        ) => Promise<readonly R[]>
      : never;

/** Queries to histories; the answers come from disk, so they are promises. */
export type QueriesOf<H extends HistoryRules> = { -readonly [N in keyof H]: QueryOf<H[N]> } & {
  /** Deletes what is older; answers how many rows went. */
  forget(name: keyof H & string, before: number, limit: number): Promise<number>;
};

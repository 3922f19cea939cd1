// Queries to the histories, in SQL that both databases understand.
import { Fault } from '#core/fault.ts';
import type { Page } from '#core/store.ts';
import { columnText } from './columns.ts';
import type { HistoryTable } from './history-tables.ts';
import type { SqlRow, SqlValue } from './sql.ts';

/** A page of rows with an id. */
export interface Question {
  readonly of: string;
  readonly filter: Readonly<Record<string, string | undefined>>;
  readonly page: Page;
}

/** Pieces of one stream after a number. */
export interface PiecesQuestion {
  readonly of: string;
  /** By column; those of the key but `seq`. The name of the stream must be there. */
  readonly filter: Readonly<Record<string, string | number | undefined>>;
  readonly limit: number;
}

export interface SqlQuery {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

/** Live rows after a kind and an id, a page of them. */
export const LOAD_SQL = 'SELECT kind, id, body FROM live WHERE (kind, id) > (?, ?) ORDER BY kind, id LIMIT ?';

const LARGEST_PAGE = 10_000;

/** Refuses unbounded queries. */
export function checkedLimit(limit: number): number {
  if (Number.isInteger(limit) && limit >= 0 && limit <= LARGEST_PAGE) return limit;
  throw new Fault('invalid', `limit must be between 0 and ${LARGEST_PAGE}.`, {
    at: 'limit',
    remedy: `Ask for at most ${LARGEST_PAGE} rows, then for those after the last one.`,
  });
}

/** The histories of a database by name, each with the SQL of its questions. */
export interface Queries {
  page(question: Question): SqlQuery;
  pieces(question: PiecesQuestion): SqlQuery & { read(row: SqlRow): Readonly<Record<string, SqlValue>> };
  /** Deletes the oldest of those that are older, as many as asked for, while the epoch is the one given. */
  forget(name: string): string;
}

export function historyQueries(histories: readonly HistoryTable[]): Queries {
  const byName = new Map(histories.map((history) => [history.name, history]));
  const named = (name: string): HistoryTable => {
    const history = byName.get(name);
    if (history) return history;
    throw new Fault('internal', `The database has no history "${name}".`);
  };
  return {
    page: (question) => pageSql(named(question.of), question),
    pieces: (question) => piecesSql(named(question.of), question),
    forget: (name) => forgetSql(named(name)),
  };
}

function pageSql({ name, finds }: HistoryTable, { filter, page }: Question): SqlQuery {
  const conditions: string[] = [];
  const values: SqlValue[] = [];
  for (const column of finds) {
    const wanted = filter[column];
    if (wanted === undefined) continue;
    // The first one given is looked up in its index, the others are only compared: a database without statistics may
    // walk the index of the least selective.
    conditions.push(conditions.length === 0 ? `${column} = ?` : `${column} || '' = ?`);
    values.push(columnText(wanted));
  }
  const isForward = page.order === 'oldest first';
  if (page.after !== undefined) {
    conditions.push(isForward ? 'id > ?' : 'id < ?');
    values.push(columnText(page.after));
  }
  const where = conditions.length > 0 ? ` WHERE ${conditions.join(' AND ')}` : '';
  const text = `SELECT body FROM ${name}${where} ORDER BY id ${isForward ? 'ASC' : 'DESC'} LIMIT ?`;
  return { text, values: [...values, checkedLimit(page.limit)] };
}

function piecesSql(
  { name, columns, key }: HistoryTable,
  { filter, limit }: PiecesQuestion,
): ReturnType<Queries['pieces']> {
  const [of = '', ...numbers] = key;
  // Without the name of the stream: the asker knows it, and its column may be a digest.
  const read = columns.filter((column) => column.name !== of);
  const wanted = numbers.filter((column) => column !== 'seq' && filter[column] !== undefined);
  const conditions = [`${of} = ?`, ...wanted.map((column) => `${column} = ?`), 'seq > ?'];
  const names = read.map((column) => column.name).join(', ');
  return {
    text: `SELECT ${names} FROM ${name} WHERE ${conditions.join(' AND ')} ORDER BY ${numbers.join(', ')} LIMIT ?`,
    values: [
      columnText(filter[of] as string),
      ...wanted.map((column) => filter[column] as number),
      filter.afterSeq ?? 0,
      checkedLimit(limit),
    ],
    // PostgreSQL gives large numbers as texts.
    read: (row) =>
      Object.fromEntries(
        read.map((column) => {
          const value = row[column.name] as SqlValue;
          return [column.name, column.is === 'number' || column.is === 'time' ? Number(value) : value];
        }),
      ),
  };
}

function forgetSql({ name, key }: HistoryTable): string {
  const old = `SELECT ${key.join(', ')} FROM ${name} WHERE at < ? ORDER BY at LIMIT ?`;
  return `DELETE FROM ${name} WHERE (${key.join(', ')}) IN (${old}) AND EXISTS (SELECT 1 FROM cluster WHERE epoch = ?) RETURNING at`;
}

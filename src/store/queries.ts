// The questions to the histories, in SQL that both databases understand.
import { Fault } from '#core/fault.ts';
import type { OutputChunk } from '#core/session.ts';
import type { HistoryName, HistoryQueries, Page } from '#core/store.ts';
import { columnText } from './columns.ts';
import type { SqlValue } from './sql.ts';

type Filter<H extends 'events' | 'decisions' | 'ended' | 'output'> = Parameters<HistoryQueries[H]>[0];

export type Question =
  | { readonly of: 'events'; readonly filter: Filter<'events'>; readonly page: Page }
  | { readonly of: 'decisions'; readonly filter: Filter<'decisions'>; readonly page: Page }
  | { readonly of: 'ended'; readonly filter: Filter<'ended'>; readonly page: Page };

export type OutputQuestion = Filter<'output'> & { readonly limit: number };
/** Without the session: it is known to whoever asked, and its column may be a digest. */
export type OutputRow = Omit<OutputChunk, 'session'>;

export interface Asked {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

/** Live rows after a kind and an id, a page of them. */
export const LOAD_SQL = 'SELECT kind, id, body FROM live WHERE (kind, id) > (?, ?) ORDER BY kind, id LIMIT ?';

const LARGEST_PAGE = 10_000;

/** Refuses what would load without bound. */
export function checkedLimit(limit: number): number {
  if (Number.isInteger(limit) && limit >= 0 && limit <= LARGEST_PAGE) return limit;
  throw new Fault('invalid', `A page of ${limit} rows cannot be had.`, {
    at: 'limit',
    remedy: `Ask for at most ${LARGEST_PAGE} rows, then for those after the last one.`,
  });
}

// Most telling first: the first one given is looked up in its index, the others are only compared. Left to itself, a
// database without statistics may walk the index of the least telling.
const FILTERS = { events: ['subject', 'pool', 'kind'], decisions: ['pool'], ended: ['id', 'key', 'pool'] } as const;

export function pageSql({ of, filter, page }: Question): Asked {
  const conditions: string[] = [];
  const values: SqlValue[] = [];
  for (const column of FILTERS[of]) {
    const wanted = (filter as Readonly<Record<string, string | undefined>>)[column];
    if (wanted === undefined) continue;
    conditions.push(conditions.length === 0 ? `${column} = ?` : `${column} || '' = ?`);
    values.push(columnText(wanted));
  }
  const isForward = page.order === 'oldest first';
  if (page.after !== undefined) {
    conditions.push(isForward ? 'id > ?' : 'id < ?');
    values.push(columnText(page.after));
  }
  const where = conditions.length > 0 ? ` WHERE ${conditions.join(' AND ')}` : '';
  const text = `SELECT body FROM ${of}${where} ORDER BY id ${isForward ? 'ASC' : 'DESC'} LIMIT ?`;
  return { text, values: [...values, checkedLimit(page.limit)] };
}

export function outputSql({ session, attempt, afterSeq = 0, limit }: OutputQuestion): Asked {
  const ofAttempt = attempt === undefined ? '' : ' AND attempt = ?';
  return {
    text: `SELECT attempt, seq, stream, at, data FROM output WHERE session = ?${ofAttempt} AND seq > ? ORDER BY attempt, seq LIMIT ?`,
    values: [columnText(session), ...(attempt === undefined ? [] : [attempt]), afterSeq, checkedLimit(limit)],
  };
}

const KEYS: Readonly<Record<HistoryName, string>> = {
  events: 'id',
  decisions: 'id',
  ended: 'id',
  output: 'session, attempt, seq',
};

/** Deletes the oldest of those that are older, as many as asked for, while the epoch is the one given. */
export function forgetSql(name: HistoryName): string {
  const key = KEYS[name];
  const old = `SELECT ${key} FROM ${name} WHERE at < ? ORDER BY at LIMIT ?`;
  return `DELETE FROM ${name} WHERE (${key}) IN (${old}) AND EXISTS (SELECT 1 FROM cluster WHERE epoch = ?) RETURNING at`;
}

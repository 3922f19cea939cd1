import type { StatementSync } from 'node:sqlite';
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { ThreadListener } from '../engine.ts';
import { BYTES_CELLS, cellNames, type HistoryTable } from '../history-tables.ts';
import { type Cell, LIVE_COLUMNS, type Part } from '../parts.ts';
import type { SqliteConnection } from './connection.ts';
import { sqliteFault } from './fault.ts';

const PAGE_BYTES = 4_096;
const PAGES_PER_CHECKPOINT = 1_000;
// Measured 1.5 for events, which have the most indexes.
const PAGES_PER_FORGOTTEN_ROW = 2;
// The ends of a table and of its indexes, which the rows of one transaction mostly share.
const PAGES_PER_TRANSACTION = 6;
// Neighbouring rows share pages: with many callers four rows take one. What was learnt may be of another load.
const LEAST_SHARE = 0.25;
const MOST_SHARE = 4;

// A statement for several rows takes a sixth less than one for each.
const ROWS_AT_ONCE = 8;

const places = (width: number, rows: number): string =>
  Array(rows)
    .fill(`(${Array(width).fill('?').join(', ')})`)
    .join(', ');

const putSql = (rows: number): string =>
  `INSERT INTO live (kind, id, body) VALUES ${places(LIVE_COLUMNS.puts.length, rows)} ON CONFLICT (kind, id) DO UPDATE SET body = excluded.body`;
const dropSql = (rows: number): string =>
  rows === 1
    ? 'DELETE FROM live WHERE kind = ? AND id = ?'
    : `DELETE FROM live WHERE (kind, id) IN (VALUES ${places(LIVE_COLUMNS.drops.length, rows)})`;

// History rows that come again are the same rows: the first is kept.
const appendSql =
  ({ name, columns }: HistoryTable) =>
  (rows: number): string => {
    const names = columns.map((column) => column.name).join(', ');
    return `INSERT INTO ${name} (${names}) VALUES ${places(columns.length, rows)} ON CONFLICT DO NOTHING`;
  };

/** The same statement for one row and for several. */
interface RowsStatement {
  readonly width: number;
  readonly one: StatementSync;
  readonly several: StatementSync;
}

function runRows({ one, several, width }: RowsStatement, cells: readonly Cell[]): void {
  const step = width * ROWS_AT_ONCE;
  let at = 0;
  for (; at + step <= cells.length; at += step) several.run(...cells.slice(at, at + step));
  for (; at < cells.length; at += width) one.run(...cells.slice(at, at + width));
}

/** Rows that end with the place of their bytes. */
function runPieces(
  statement: StatementSync,
  cells: readonly Cell[],
  { width, data }: { width: number; data: Uint8Array },
) {
  for (let at = 0; at < cells.length; at += width) {
    const row = cells.slice(at, at + width);
    const [start, size] = row.splice(-BYTES_CELLS.length) as [number, number];
    statement.run(...row, data.subarray(start, start + size));
  }
}

export interface SqliteWriter {
  /** One transaction; durable when this returns. */
  write(parts: readonly Part[]): void;
  /** So many rows of a history were deleted beside it: that fills the log as well. */
  noteForgotten(rows: number): void;
}

export function sqliteWriter(
  connection: SqliteConnection,
  histories: readonly HistoryTable[],
  { clock, listener }: { readonly clock: Pick<Clock, 'soon'>; readonly listener: Pick<ThreadListener, 'log'> },
): SqliteWriter {
  const rowsStatement = (width: number, sql: (rows: number) => string): RowsStatement => ({
    width,
    one: connection.prepare(sql(1)),
    several: connection.prepare(sql(ROWS_AT_ONCE)),
  });
  const put = rowsStatement(LIVE_COLUMNS.puts.length, putSql);
  const drop = rowsStatement(LIVE_COLUMNS.drops.length, dropSql);
  const appends = histories.map((history) => ({
    name: history.name,
    isOfBytes: history.columns.at(-1)?.is === 'bytes',
    ...rowsStatement(cellNames(history).length, appendSql(history)),
  }));
  const begin = connection.prepare('BEGIN IMMEDIATE');
  const commit = connection.prepare('COMMIT');
  const copyLog = connection.prepare('PRAGMA wal_checkpoint(PASSIVE)');
  let pagesSinceCheckpoint = 0;
  // Pages in the log for each that was estimated, as the last checkpoint found.
  let share = 1;
  let pagesLeft = 0;
  let isCheckpointDue = false;

  const isFull = (): boolean => pagesSinceCheckpoint * share >= PAGES_PER_CHECKPOINT;

  function writePart({ puts, drops, appended, data }: Part): void {
    runRows(put, puts);
    runRows(drop, drops);
    for (const append of appends) {
      const cells = appended[append.name];
      if (!cells) continue;
      if (append.isOfBytes) runPieces(append.one, cells, { width: append.width, data });
      else runRows(append, cells);
    }
  }

  /** About how many pages it dirtied: a live row or an index entry one each, bytes as many as they fill. */
  function pagesOf({ puts, drops, appended, data }: Part): number {
    let rows = puts.length / LIVE_COLUMNS.puts.length + drops.length / LIVE_COLUMNS.drops.length;
    for (const { name, width } of appends) rows += (appended[name]?.length ?? 0) / width;
    return rows + data.byteLength / PAGE_BYTES;
  }

  function learn({ log, checkpointed }: { readonly log: number; readonly checkpointed: number }): void {
    share = Math.min(Math.max((log - pagesLeft) / pagesSinceCheckpoint, LEAST_SHARE), MOST_SHARE);
    // SQLite begins the log anew only where all of it was copied.
    pagesLeft = checkpointed < log ? log : 0;
  }

  function checkpoint(): void {
    isCheckpointDue = false;
    try {
      learn(copyLog.get() as { log: number; checkpointed: number });
    } catch (thrown) {
      // Everything is safe in the log; if the trouble lasts, a commit will say so.
      listener.log('warn', 'database checkpoint failed', { error: Fault.from(thrown).message });
    }
    pagesSinceCheckpoint = 0;
  }

  function rollBack(): void {
    try {
      connection.exec('ROLLBACK');
    } catch {
      // SQLite has rolled back by itself, as it does when the disk is full.
    }
  }

  return {
    write(parts) {
      try {
        begin.run();
        for (const part of parts) writePart(part);
        commit.run();
      } catch (thrown) {
        rollBack();
        throw sqliteFault(thrown, connection.file);
      }
      pagesSinceCheckpoint += PAGES_PER_TRANSACTION;
      for (const part of parts) pagesSinceCheckpoint += pagesOf(part);
      if (isCheckpointDue || !isFull()) return;
      isCheckpointDue = true;
      // After the answer is on its way.
      clock.soon(checkpoint);
    },
    noteForgotten(rows) {
      pagesSinceCheckpoint += rows * PAGES_PER_FORGOTTEN_ROW;
      // At once: this answer is not urgent, and calls that follow each other closely would keep a later turn waiting.
      if (isFull()) checkpoint();
    },
  };
}

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

const PUT =
  'INSERT INTO live (kind, id, body) VALUES (?, ?, ?) ON CONFLICT (kind, id) DO UPDATE SET body = excluded.body';
const DROP = 'DELETE FROM live WHERE kind = ? AND id = ?';

// History rows that come again are the same rows: the first is kept.
function appendSql({ name, columns }: HistoryTable): string {
  const names = columns.map((column) => column.name).join(', ');
  return `INSERT INTO ${name} (${names}) VALUES (${columns.map(() => '?').join(', ')}) ON CONFLICT DO NOTHING`;
}

function runRows(statement: StatementSync, cells: readonly Cell[], width: number): void {
  for (let at = 0; at < cells.length; at += width) statement.run(...cells.slice(at, at + width));
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
  { clock, listener }: { readonly clock: Clock; readonly listener: Pick<ThreadListener, 'log'> },
): SqliteWriter {
  const put = connection.prepare(PUT);
  const drop = connection.prepare(DROP);
  const appends = histories.map((history) => ({
    name: history.name,
    width: cellNames(history).length,
    statement: connection.prepare(appendSql(history)),
    isOfBytes: history.columns.at(-1)?.is === 'bytes',
  }));
  const begin = connection.prepare('BEGIN IMMEDIATE');
  const commit = connection.prepare('COMMIT');
  let pagesSinceCheckpoint = 0;
  let isCheckpointDue = false;

  function writePart({ puts, drops, appended, data }: Part): void {
    runRows(put, puts, LIVE_COLUMNS.puts.length);
    runRows(drop, drops, LIVE_COLUMNS.drops.length);
    for (const { name, width, statement, isOfBytes } of appends) {
      const cells = appended[name];
      if (!cells) continue;
      if (isOfBytes) runPieces(statement, cells, { width, data });
      else runRows(statement, cells, width);
    }
  }

  /** About how many pages it dirtied: a live row or an index entry one each, bytes as many as they fill. */
  function pagesOf({ puts, drops, appended, data }: Part): number {
    let rows = puts.length / LIVE_COLUMNS.puts.length + drops.length / LIVE_COLUMNS.drops.length;
    for (const { name, width } of appends) rows += (appended[name]?.length ?? 0) / width;
    return rows + data.byteLength / PAGE_BYTES;
  }

  function checkpoint(): void {
    isCheckpointDue = false;
    pagesSinceCheckpoint = 0;
    try {
      connection.exec('PRAGMA wal_checkpoint(PASSIVE)');
    } catch (thrown) {
      // Everything is safe in the log; if the trouble lasts, a commit will say so.
      listener.log('warn', 'database checkpoint failed', { error: Fault.from(thrown).message });
    }
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
      for (const part of parts) pagesSinceCheckpoint += pagesOf(part);
      if (pagesSinceCheckpoint < PAGES_PER_CHECKPOINT || isCheckpointDue) return;
      isCheckpointDue = true;
      // After the answer is on its way.
      clock.soon(checkpoint);
    },
    noteForgotten(rows) {
      pagesSinceCheckpoint += rows * PAGES_PER_FORGOTTEN_ROW;
      // At once: this answer is not urgent, and calls that follow each other closely would keep a later turn waiting.
      if (pagesSinceCheckpoint >= PAGES_PER_CHECKPOINT) checkpoint();
    },
  };
}

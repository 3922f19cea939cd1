import type { StatementSync } from 'node:sqlite';
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Told } from '../engine.ts';
import { type Cell, COLUMNS, type Group, type Part } from '../parts.ts';
import type { SqliteConnection } from './connection.ts';
import { sqliteFault } from './fault.ts';

const PAGE_BYTES = 4_096;
const PAGES_PER_CHECKPOINT = 1_000;
// Measured 1.5 for events, which have the most indexes.
const PAGES_PER_FORGOTTEN_ROW = 2;

// History rows that come again are the same rows: the first is kept.
const STATEMENTS: Readonly<Record<Exclude<Group, 'output'>, string>> = {
  puts: 'INSERT INTO live (kind, id, body) VALUES (?, ?, ?) ON CONFLICT (kind, id) DO UPDATE SET body = excluded.body',
  drops: 'DELETE FROM live WHERE kind = ? AND id = ?',
  events: 'INSERT INTO events (id, at, kind, subject, pool, body) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
  decisions: 'INSERT INTO decisions (id, at, pool, body) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
  ended: 'INSERT INTO ended (id, at, pool, key, body) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
};
const OUTPUT_STATEMENT =
  'INSERT INTO output (session, attempt, seq, stream, at, data) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING';

function runRows(statement: StatementSync, cells: readonly Cell[], width: number): void {
  for (let at = 0; at < cells.length; at += width) statement.run(...cells.slice(at, at + width));
}

function runOutput(statement: StatementSync, { cells, data }: Part): void {
  const width = COLUMNS.output.length;
  for (let at = 0; at < cells.output.length; at += width) {
    const row = cells.output.slice(at, at + width);
    const [start, size] = row.splice(-2) as [number, number];
    statement.run(...row, data.subarray(start, start + size));
  }
}

export interface SqliteWriter {
  /** One transaction; durable when this returns. */
  write(parts: readonly Part[]): void;
  /** So many rows of a history were deleted beside it: that fills the log as well. */
  noteForgotten(rows: number): void;
}

export function sqliteWriter(connection: SqliteConnection, clock: Clock, told: Pick<Told, 'log'>): SqliteWriter {
  const groups = Object.keys(STATEMENTS) as (keyof typeof STATEMENTS)[];
  const statements = groups.map((group) => [group, connection.prepare(STATEMENTS[group])] as const);
  const output = connection.prepare(OUTPUT_STATEMENT);
  const begin = connection.prepare('BEGIN IMMEDIATE');
  const commit = connection.prepare('COMMIT');
  let pagesSinceCheckpoint = 0;
  let isCheckpointDue = false;

  function writePart(part: Part): void {
    for (const [group, statement] of statements) runRows(statement, part.cells[group], COLUMNS[group].length);
    if (part.cells.output.length > 0) runOutput(output, part);
  }

  function checkpoint(): void {
    isCheckpointDue = false;
    pagesSinceCheckpoint = 0;
    try {
      connection.exec('PRAGMA wal_checkpoint(PASSIVE)');
    } catch (thrown) {
      // Everything is safe in the log; if the trouble lasts, a commit will say so.
      told.log('warn', 'database checkpoint failed', { error: Fault.from(thrown).message });
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
      // At once: nobody hurries for this answer, and calls that follow each other closely would keep a later turn waiting.
      if (pagesSinceCheckpoint >= PAGES_PER_CHECKPOINT) checkpoint();
    },
  };
}

/** About how many pages it dirtied: a live row or an index entry one each, bytes as many as they fill. */
function pagesOf({ cells, data }: Part): number {
  let rows = 0;
  for (const group of Object.keys(COLUMNS) as Group[]) rows += cells[group].length / COLUMNS[group].length;
  return rows + data.byteLength / PAGE_BYTES;
}

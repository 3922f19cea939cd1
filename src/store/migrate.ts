import { systemClock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { createHistory, type HistoryTable } from './history-tables.ts';
import { MIGRATIONS, type Migration } from './schema.ts';
import type { Sql } from './sql.ts';
import { LIVE, walk } from './walk.ts';

const CREATE_MIGRATIONS =
  'CREATE TABLE IF NOT EXISTS migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, at DOUBLE PRECISION NOT NULL)';

/** Throws where this program is too old for the database. */
export function refuseNewer(version: number, known: number): void {
  if (version <= known) return;
  throw new Fault(
    'unsupported',
    `The database has version ${version}; this program supports versions up to ${known}.`,
    {
      remedy: `Start a newer Muster that supports version ${version}, or restore a backup of version ${known} or older.`,
    },
  );
}

/**
 * Brings the database to the newest version, and makes the tables of histories that it lacks; call it within a
 * transaction. Answers the version it had: 0 is new.
 */
export async function migrate(
  sql: Sql,
  histories: readonly HistoryTable[],
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<number> {
  await sql.query(CREATE_MIGRATIONS);
  const [row] = await sql.query('SELECT max(version) AS version FROM migrations');
  const before = Number(row?.version ?? 0);
  refuseNewer(before, migrations.length);
  for (const [index, migration] of migrations.entries()) {
    const version = index + 1;
    if (version <= before) continue;
    for (const statement of migration.statements(sql.dialect)) await sql.query(statement);
    if (before > 0) await reshapeAll(sql, migration);
    await sql.query('INSERT INTO migrations VALUES (?, ?, ?)', [version, migration.name, systemClock.now()]);
  }
  await createMissing(sql, histories);
  return before;
}

async function createMissing(sql: Sql, histories: readonly HistoryTable[]): Promise<void> {
  // PostgreSQL keeps unquoted names in lower case.
  const tables = new Set((await sql.query(sql.dialect.tables)).map(({ name }) => String(name).toLowerCase()));
  const missing = histories.filter(({ name }) => !tables.has(name.toLowerCase()));
  for (const history of missing) {
    for (const statement of createHistory(history, sql.dialect)) await sql.query(statement);
  }
}

async function reshapeAll(sql: Sql, migration: Migration): Promise<void> {
  if (!migration.reshape) return;
  for await (const rows of walk(sql, LIVE)) {
    for (const { kind, id, body } of rows) {
      const row = migration.reshape(kind as string, JSON.parse(body as string));
      if (row === undefined)
        await sql.query('DELETE FROM live WHERE kind = ? AND id = ?', [kind as string, id as string]);
      else
        await sql.query('UPDATE live SET body = ? WHERE kind = ? AND id = ?', [
          JSON.stringify(row),
          kind as string,
          id as string,
        ]);
    }
  }
}

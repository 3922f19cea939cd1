import { closeSync, existsSync, fsyncSync, mkdtempSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Fault } from '#core/fault.ts';
import { copyCluster } from './cluster.ts';
import type { Copier, Setup, Target } from './engine.ts';
import type { HistoryTable } from './history-tables.ts';
import { migrate } from './migrate.ts';
import { transaction } from './sql.ts';
import { openSqlite, ownFile, type SqliteConnection } from './sqlite/connection.ts';
import { APPLICATION_ID, databaseFile, isOurs, lockDirectory, makeDirectory } from './sqlite/directory.ts';
import { sqliteFault } from './sqlite/fault.ts';
import { copyTables } from './walk.ts';

type PostgresTarget = Extract<Target, { kind: 'postgres' }>;

/** Runs `work` on a SQLite file and closes it again. */
async function withSqlite(
  file: string,
  work: (connection: SqliteConnection) => Promise<void> | void,
  readOnly = false,
): Promise<void> {
  const connection = openSqlite(file, { readOnly });
  try {
    await work(connection);
  } finally {
    connection.close();
  }
}

function syncToDisk(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Fills a file under another name; it gets its own only when it is complete and on disk. */
async function makeFile(file: string, partial: string, fill: () => Promise<void>): Promise<void> {
  try {
    rmSync(partial, { force: true });
    ownFile(partial);
    await fill();
    syncToDisk(partial);
    renameSync(partial, file);
    syncToDisk(dirname(file));
  } catch (thrown) {
    rmSync(partial, { force: true });
    throw sqliteFault(thrown, file);
  }
}

/** Takes the name while the file is being made, so that a file of someone else is never overwritten. */
function reserve(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw sqliteFault(thrown, file);
    throw new Fault('conflict', `${file} exists already.`, {
      at: file,
      remedy: 'Name a file that does not exist yet.',
    });
  }
}

function copySqlite(from: string, to: string): Promise<void> {
  return withSqlite(from, async (connection) => void (await connection.query('VACUUM INTO ?', [to])), true);
}

async function copyPostgres(from: PostgresTarget, to: string, histories: readonly HistoryTable[]): Promise<void> {
  const { withPostgresSnapshot } = await import('./postgres/copy.ts');
  await withSqlite(to, async (target) => {
    target.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA synchronous = OFF`);
    await withPostgresSnapshot(from.url, (source) =>
      transaction(target, async () => {
        await migrate(target, histories);
        await copyTables(source, target, histories);
        await copyCluster(source, target);
      }),
    );
  });
}

// Damage shows when the backup is copied, for that reads every row of it.
async function refuseForeign(connection: SqliteConnection): Promise<void> {
  const tables = await connection.query(
    "SELECT name FROM sqlite_master WHERE name IN ('migrations', 'cluster', 'live')",
  );
  if (tables.length !== 3 || !(await isOurs(connection))) {
    throw new Fault('invalid', `${connection.file} is not a backup of Muster.`, { at: connection.file });
  }
}

interface Restoring {
  readonly backup: string;
  readonly restoredAt: number;
  readonly histories: readonly HistoryTable[];
}

/** A copy of the backup, checked and brought to the newest version. */
async function prepare(backup: string, copy: string, histories: readonly HistoryTable[]): Promise<void> {
  if (!existsSync(backup)) throw new Fault('missing', `There is no file ${backup}.`, { at: backup });
  await withSqlite(backup, refuseForeign, true);
  await copySqlite(backup, copy);
  await withSqlite(
    copy,
    async (connection) => void (await transaction(connection, () => migrate(connection, histories))),
  );
}

async function restoreSqlite({ backup, restoredAt, histories }: Restoring, directory: string): Promise<void> {
  makeDirectory(directory);
  const unlock = lockDirectory(directory);
  try {
    refuseFull(directory);
    const partial = join(directory, 'restore.partial');
    await makeFile(databaseFile(directory), partial, async () => {
      await prepare(backup, partial, histories);
      await withSqlite(partial, (connection) =>
        transaction(connection, () => copyCluster(connection, connection, restoredAt)),
      );
    });
  } finally {
    unlock();
  }
}

function refuseFull(directory: string): void {
  // A write-ahead log left behind would be played into the restored database.
  const found = readdirSync(directory).find((name) => name.startsWith('muster.db'));
  if (!found) return;
  throw new Fault('conflict', `There is a database in ${directory} already: ${found}.`, {
    at: directory,
    remedy: 'Use an empty directory, or move the files muster.db* elsewhere.',
  });
}

async function restorePostgres({ backup, restoredAt, histories }: Restoring, to: PostgresTarget): Promise<void> {
  const { withEmptyPostgres } = await import('./postgres/copy.ts');
  const scratch = mkdtempSync(join(tmpdir(), 'muster-restore-'));
  try {
    const copy = join(scratch, 'copy.db');
    ownFile(copy);
    await prepare(backup, copy, histories);
    await withSqlite(copy, (source) =>
      withEmptyPostgres({ url: to.url, histories }, async (target) => {
        await copyTables(source, target, histories);
        await copyCluster(source, target, restoredAt);
      }),
    );
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function backUp(from: Target, file: string, histories: readonly HistoryTable[]): Promise<void> {
  const partial = `${file}.partial`;
  reserve(file);
  try {
    await makeFile(file, partial, () =>
      from.kind === 'sqlite'
        ? copySqlite(databaseFile(from.directory), partial)
        : copyPostgres(from, partial, histories),
    );
  } catch (thrown) {
    rmSync(file, { force: true });
    throw thrown;
  }
}

export function openCopier({ histories }: Pick<Setup, 'histories'>): Copier {
  return {
    backup: (from, file) => backUp(from, file, histories),
    restore(backup, to, restoredAt) {
      const restoring = { backup, restoredAt, histories };
      return to.kind === 'sqlite' ? restoreSqlite(restoring, to.directory) : restorePostgres(restoring, to);
    },
  };
}

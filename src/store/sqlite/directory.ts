import { existsSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Fault } from '#core/fault.ts';
import type { Sql } from '../sql.ts';
import { openSqlite, ownFile } from './connection.ts';
import { sqliteFault } from './fault.ts';

/** Marks a SQLite file as ours: "Must" in ASCII. */
export const APPLICATION_ID = 0x4d757374;

export async function isOurs(sql: Sql): Promise<boolean> {
  const [mark] = await sql.query('PRAGMA application_id');
  return mark?.application_id === APPLICATION_ID;
}

export const databaseFile = (directory: string): string => join(directory, 'muster.db');

// The server makes it at its first start, right after the database.
const FIRST_TOKEN = 'admin.token';

/** A directory that was in use has a database with something in it; a new one would hide that everything is lost. */
export function refuseLost(directory: string): void {
  const file = databaseFile(directory);
  const size = statSync(file, { throwIfNoEntry: false })?.size;
  if ((size ?? 0) > 0 || !existsSync(join(directory, FIRST_TOKEN))) return;
  const what = size === undefined ? 'is missing' : 'is empty';
  throw new Fault('missing', `The database ${file} ${what}, but the directory was in use.`, {
    at: file,
    remedy: `Put the file back, or restore a backup. To begin with an empty database, remove ${FIRST_TOKEN} there.`,
  });
}

/**
 * Finds out whether a file is still the one that it was: one that was removed or truncated can be written, and all of that is
 * lost. SQLite never makes the file shorter by itself.
 */
export function watchFile(file: string): () => void {
  const before = statSync(file);
  return () => {
    const now = statSync(file, { throwIfNoEntry: false });
    const isSame = now?.ino === before.ino && now.dev === before.dev;
    if (isSame && now.size >= before.size) return;
    const what = isSame ? 'was truncated' : now ? 'was replaced' : 'was removed';
    throw new Fault('unavailable', `The database ${file} ${what} while the server used it.`, {
      at: file,
      remedy: 'Stop the server, put the file back or restore a backup, then start it again.',
    });
  };
}

/** Makes the directory, closed to others, unless it is there: then its rights are its owner's affair. */
export function makeDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (thrown) {
    throw sqliteFault(thrown, directory);
  }
}

/**
 * Keeps every other process out of the directory until released, or until this process ends in any way. The lock is
 * SQLite's own, on a file beside the database, so that backups may read the database meanwhile.
 */
export function lockDirectory(directory: string): () => void {
  const file = join(directory, 'muster.lock');
  ownFile(file);
  const lock = openSqlite(file);
  try {
    lock.exec('PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE');
  } catch (thrown) {
    lock.close();
    const fault = Fault.from(thrown);
    if (fault.kind !== 'conflict') throw fault;
    throw new Fault('conflict', `Another process uses the database in ${directory}.`, {
      at: directory,
      remedy: 'Stop the other server, or give this one a directory of its own; for several servers use PostgreSQL.',
    });
  }
  return () => lock.close();
}

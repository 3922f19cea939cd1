import { mkdirSync } from 'node:fs';
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

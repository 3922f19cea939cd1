import { chmodSync, closeSync, openSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { SQLITE, type Sql } from '../sql.ts';
import { sqliteFault } from './fault.ts';

/** One connection to a SQLite file. */
export interface SqliteConnection extends Sql {
  readonly file: string;
  /** Prepared once for each text. */
  prepare(text: string): StatementSync;
  exec(text: string): void;
  close(): void;
}

/** Makes the file, for its owner's eyes only, before SQLite would make it by its own ideas. */
export function ownFile(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw sqliteFault(thrown, file);
    // Never opened and closed by hand: closing any descriptor of a file drops all POSIX locks that this process has on it.
    chmodSync(file, 0o600);
  }
}

export function openSqlite(file: string, options: { readonly readOnly?: boolean } = {}): SqliteConnection {
  const attempt = <T>(work: () => T): T => {
    try {
      return work();
    } catch (thrown) {
      throw sqliteFault(thrown, file);
    }
  };
  const db = attempt(() => new DatabaseSync(file, { timeout: 5_000, readOnly: options.readOnly ?? false }));
  const prepared = new Map<string, StatementSync>();

  function prepare(text: string): StatementSync {
    const found = prepared.get(text);
    if (found) return found;
    const made = attempt(() => db.prepare(text));
    prepared.set(text, made);
    return made;
  }

  return {
    dialect: SQLITE,
    file,
    prepare,
    query: async (text, values = []) => attempt(() => prepare(text).all(...values) as never),
    exec: (text) => attempt(() => db.exec(text)),
    close: () => db.close(),
  };
}

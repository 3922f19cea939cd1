export type SqlValue = string | number | null | Uint8Array;
export type SqlRow = Readonly<Record<string, SqlValue>>;

/** Where the two databases spell one thing differently. */
export interface Dialect {
  readonly kind: 'sqlite' | 'postgres';
  /** Text that sorts by its bytes, so that pages are cut alike everywhere. */
  readonly text: string;
  readonly bytes: string;
  /** A query for the names of all tables. */
  readonly tables: string;
}

export const SQLITE: Dialect = {
  kind: 'sqlite',
  text: 'TEXT',
  bytes: 'BLOB',
  tables: "SELECT name FROM sqlite_master WHERE type = 'table'",
};
export const POSTGRES: Dialect = {
  kind: 'postgres',
  text: 'TEXT COLLATE "C"',
  bytes: 'BYTEA',
  tables: 'SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema()',
};

/** One connection to either database; values stand as `?` in the text. */
export interface Sql {
  readonly dialect: Dialect;
  query(text: string, values?: readonly SqlValue[]): Promise<readonly SqlRow[]>;
}

/** All that `work` writes, or nothing of it. */
export async function transaction<T>(sql: Sql, work: () => Promise<T>): Promise<T> {
  await sql.query(sql.dialect.kind === 'sqlite' ? 'BEGIN IMMEDIATE' : 'BEGIN');
  try {
    const result = await work();
    await sql.query('COMMIT');
    return result;
  } catch (thrown) {
    // The first failure is the one to tell; a lost connection rolls back by itself.
    await sql.query('ROLLBACK').catch(() => {});
    throw thrown;
  }
}

import { TABLE_KEYS } from './schema.ts';
import type { Sql, SqlRow, SqlValue } from './sql.ts';

// Output rows may have 64 KB each.
const ROWS_PER_PAGE = 200;

/** A whole table in the order of its key, a page at a time, however large it is. */
export async function* walk(sql: Sql, table: keyof typeof TABLE_KEYS): AsyncGenerator<readonly SqlRow[]> {
  const keys = TABLE_KEYS[table];
  const order = `ORDER BY ${keys.join(', ')} LIMIT ${ROWS_PER_PAGE}`;
  const rest = `WHERE (${keys.join(', ')}) > (${keys.map(() => '?').join(', ')})`;
  let page = await sql.query(`SELECT * FROM ${table} ${order}`);
  while (page.length > 0) {
    yield page;
    const last = page.at(-1) as SqlRow;
    const after = keys.map((key) => last[key] as SqlValue);
    page = await sql.query(`SELECT * FROM ${table} ${rest} ${order}`, after);
  }
}

/** Copies every table; both databases must have the same version. */
export async function copyTables(from: Sql, to: Sql): Promise<void> {
  for (const table of Object.keys(TABLE_KEYS) as (keyof typeof TABLE_KEYS)[]) {
    for await (const rows of walk(from, table)) {
      const columns = Object.keys(rows[0] as SqlRow);
      const one = `(${columns.map(() => '?').join(', ')})`;
      const text = `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${rows.map(() => one).join(', ')}`;
      await to.query(
        text,
        rows.flatMap((row) => columns.map((column) => row[column] as SqlValue)),
      );
    }
  }
}

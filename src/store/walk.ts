import type { HistoryTable } from './history-tables.ts';
import type { Sql, SqlRow, SqlValue } from './sql.ts';

// Rows of bytes may have 64 KB each.
const ROWS_PER_PAGE = 200;

/** A table with the key by which it is walked. */
type Walked = Pick<HistoryTable, 'name' | 'key'>;

export const LIVE: Walked = { name: 'live', key: ['kind', 'id'] };

/** A whole table in the order of its key, a page at a time, however large it is. */
export async function* walk(sql: Sql, { name, key }: Walked): AsyncGenerator<readonly SqlRow[]> {
  const order = `ORDER BY ${key.join(', ')} LIMIT ${ROWS_PER_PAGE}`;
  const rest = `WHERE (${key.join(', ')}) > (${key.map(() => '?').join(', ')})`;
  let page = await sql.query(`SELECT * FROM ${name} ${order}`);
  while (page.length > 0) {
    yield page;
    const last = page.at(-1) as SqlRow;
    const after = key.map((column) => last[column] as SqlValue);
    page = await sql.query(`SELECT * FROM ${name} ${rest} ${order}`, after);
  }
}

/** Copies the live rows and every history; both databases must have the same version. */
export async function copyTables(from: Sql, to: Sql, histories: readonly HistoryTable[]): Promise<void> {
  for (const table of [LIVE, ...histories]) {
    for await (const rows of walk(from, table)) {
      const columns = Object.keys(rows[0] as SqlRow);
      const one = `(${columns.map(() => '?').join(', ')})`;
      const text = `INSERT INTO ${table.name} (${columns.join(', ')}) VALUES ${rows.map(() => one).join(', ')}`;
      await to.query(
        text,
        rows.flatMap((row) => columns.map((column) => row[column] as SqlValue)),
      );
    }
  }
}

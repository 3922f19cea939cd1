import { Fault } from '#core/fault.ts';
import type { HistoryTable } from '../history-tables.ts';
import { migrate } from '../migrate.ts';
import { type Sql, transaction } from '../sql.ts';
import { openPostgres, type PostgresConnection } from './client.ts';
import { postgresFault } from './fault.ts';
import { lockSchema } from './schema-lock.ts';

// A copy may be slow on the other side, and holds no locks that others wait for.
const NO_LIMIT = 0;

async function withConnection(url: string, work: (connection: PostgresConnection) => Promise<void>): Promise<void> {
  const client = openPostgres(url, { idleTransactionMs: NO_LIMIT });
  try {
    await work(await client.connection());
  } catch (thrown) {
    throw postgresFault(thrown, url);
  } finally {
    await client.close();
  }
}

/** Reads everything as it was at one moment, while others write on. */
export function withPostgresSnapshot(url: string, work: (sql: Sql) => Promise<void>): Promise<void> {
  return withConnection(url, (connection) =>
    transaction(connection, async () => {
      await connection.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
      await work(connection);
    }),
  );
}

/** Fills a database that holds no cluster yet, all or nothing. */
export function withEmptyPostgres(
  { url, histories }: { readonly url: string; readonly histories: readonly HistoryTable[] },
  work: (sql: Sql) => Promise<void>,
): Promise<void> {
  return withConnection(url, (connection) =>
    transaction(connection, async () => {
      await lockSchema(connection);
      await migrate(connection, histories);
      const clusters = await connection.query('SELECT id FROM cluster');
      if (clusters.length > 0) {
        throw new Fault('conflict', 'There is a cluster in this PostgreSQL database already.', {
          remedy: 'Name an empty database.',
        });
      }
      await work(connection);
    }),
  );
}

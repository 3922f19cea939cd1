import pg from 'pg';
import { POSTGRES, type Sql, type SqlRow, type SqlValue } from '../sql.ts';
import { isPassing } from './fault.ts';

export interface Statement {
  /** Prepared once for each connection under this name; its text has `$1`. */
  readonly name: string;
  readonly text: string;
  readonly values: readonly SqlValue[];
}

/** One connection as long as it lasts: a transaction that has lost it must not go on in the next one. */
export interface PostgresConnection extends Sql {
  run(statement: Statement): Promise<readonly SqlRow[]>;
}

/** A connection that is made when needed and made anew after it was lost. */
export interface PostgresClient extends PostgresConnection {
  connection(): Promise<PostgresConnection>;
  /** Calls that wait for an answer are refused. */
  drop(): void;
  close(): Promise<void>;
}

export interface ClientOptions {
  /** How long the server may take to accept a connection. */
  readonly connectWithinMs?: number;
  /** How long an answer may take before the connection is given up. */
  readonly answerWithinMs?: number;
  /** How long the server keeps a transaction of which nothing is heard. */
  readonly idleTransactionMs?: number;
}

const CONNECT_WITHIN_MS = 2_000;

// Rows are looked up by key in lists of unknown length, which the planner takes for a reason to read the whole table.
// A server that is configured not to wait for its disk would break the promise of `commit`.
const settings = (idleTransactionMs: number): string => `
  SET search_path TO muster;
  SET enable_hashjoin TO off;
  SET enable_mergejoin TO off;
  SET enable_seqscan TO off;
  SET plan_cache_mode TO force_generic_plan;
  SET lock_timeout TO 2000;
  SET idle_in_transaction_session_timeout TO ${idleTransactionMs};
  SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off';
`;

/** `?` becomes `$1`, `$2` and so on. */
function numbered(text: string): string {
  let count = 0;
  return text.replaceAll('?', () => `$${++count}`);
}

function bind(client: pg.Client, failed: (thrown: unknown) => void): PostgresConnection {
  let last: Promise<unknown> = Promise.resolve();

  /** One question at a time: the client itself will not line them up for ever, and warns of that. */
  async function ask(query: pg.QueryConfig): Promise<readonly SqlRow[]> {
    const answer = last.then(() => client.query(query));
    last = answer.catch(() => {});
    try {
      return (await answer).rows;
    } catch (thrown) {
      failed(thrown);
      throw thrown;
    }
  }
  return {
    dialect: POSTGRES,
    query: (text, values = []) => ask({ text: numbered(text), values: [...values] }),
    run: ({ name, text, values }) => ask({ name, text, values: [...values] }),
  };
}

export function openPostgres(url: string, options: ClientOptions = {}): PostgresClient {
  const { connectWithinMs = CONNECT_WITHIN_MS, answerWithinMs = 0, idleTransactionMs = 3_000 } = options;
  let current: { readonly client: pg.Client; readonly ready: Promise<PostgresConnection> } | undefined;

  function drop(client = current?.client): void {
    if (!client) return;
    if (current?.client === client) current = undefined;
    void client.end().catch(() => {});
  }

  async function connect(client: pg.Client): Promise<PostgresConnection> {
    try {
      await client.connect();
      await client.query(settings(idleTransactionMs));
    } catch (thrown) {
      drop(client);
      throw thrown;
    }
    return bind(client, (thrown) => {
      if (isPassing(thrown)) drop(client);
    });
  }

  function connection(): Promise<PostgresConnection> {
    if (current) return current.ready;
    const client = new pg.Client({
      connectionString: url,
      application_name: 'muster',
      keepAlive: true,
      connectionTimeoutMillis: connectWithinMs,
      ...(answerWithinMs > 0 ? { query_timeout: answerWithinMs } : {}),
    });
    client.on('error', () => drop(client));
    const ready = connect(client);
    current = { client, ready };
    return ready;
  }

  return {
    dialect: POSTGRES,
    connection,
    query: async (text, values) => (await connection()).query(text, values),
    run: async (statement) => (await connection()).run(statement),
    drop: () => drop(),
    async close() {
      const client = current?.client;
      current = undefined;
      await client?.end().catch(() => {});
    },
  };
}

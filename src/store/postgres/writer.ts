// A transaction of ordinary size is one statement: it costs one round trip and can never be left half way.
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { SEPARATOR } from '../columns.ts';
import { type Cell, COLUMNS, type Group, type Part } from '../parts.ts';
import { type SqlValue, transaction } from '../sql.ts';
import type { PostgresClient, PostgresConnection, Statement } from './client.ts';
import { isPassing } from './fault.ts';

const RETRY_AFTER_MS = 100;

const TYPES: Readonly<Record<string, string>> = {
  at: 'double precision',
  attempt: 'bigint',
  seq: 'bigint',
  start: 'integer',
  size: 'integer',
};

/** What a writing is made of: its rows, whether they may be written, the bytes of the part. */
interface Given {
  readonly rows: string;
  readonly allowed: string;
  readonly bytes: string;
}

function insert(table: string, columns: readonly string[], onConflict: string): (given: Given) => string {
  const names = columns.join(', ');
  return ({ rows, allowed }) =>
    `INSERT INTO ${table} (${names}) SELECT ${names} FROM ${rows} WHERE ${allowed} ON CONFLICT ${onConflict}`;
}

// History rows that come again are the same rows: the first is kept.
const WRITES: Readonly<Record<Group, (given: Given) => string>> = {
  puts: insert('live', COLUMNS.puts, '(kind, id) DO UPDATE SET body = excluded.body'),
  drops: ({ rows, allowed }) =>
    `DELETE FROM live USING ${rows} WHERE live.kind = given.kind AND live.id = given.id AND ${allowed}`,
  events: insert('events', COLUMNS.events, 'DO NOTHING'),
  decisions: insert('decisions', COLUMNS.decisions, 'DO NOTHING'),
  ended: insert('ended', COLUMNS.ended, 'DO NOTHING'),
  output: ({ rows, allowed, bytes }) => `INSERT INTO output (session, attempt, seq, stream, at, data)
    SELECT session, attempt, seq, stream, at, substring(${bytes} FROM start + 1 FOR size)
    FROM ${rows} WHERE ${allowed} ON CONFLICT DO NOTHING`,
};

/** A column as one text: neither JSON nor our columns contain the separator, and an absent value is empty. */
function columnOf(cells: readonly Cell[], column: number, width: number): string {
  const texts: string[] = [];
  for (let at = column; at < cells.length; at += width) texts.push(String(cells[at] ?? ''));
  return texts.join(SEPARATOR);
}

export interface Fence {
  readonly epoch: number;
  readonly batch: number;
}

/** The writing of a part; with a fence, only where the epoch is still ours and this batch is the next one. */
export function partStatement({ cells, data }: Part, fence?: Fence): Statement {
  const values: SqlValue[] = [];
  const place = (value: SqlValue): string => `$${values.push(value)}`;
  const steps: string[] = [];
  if (fence) {
    const [batch, epoch] = [place(fence.batch), place(fence.epoch)];
    steps.push(`fence AS (UPDATE cluster SET batch = ${batch}::bigint
      WHERE epoch = ${epoch}::bigint AND batch = ${batch}::bigint - 1 RETURNING 1)`);
  }
  const groups = (Object.keys(COLUMNS) as Group[]).filter((group) => cells[group].length > 0);
  for (const group of groups) {
    const columns: readonly string[] = COLUMNS[group];
    const arrays = columns.map((column, index) => {
      const text = place(columnOf(cells[group], index, columns.length));
      return `string_to_array(${text}::text, E'\\x1f', '')::${TYPES[column] ?? 'text'}[]`;
    });
    const written = WRITES[group]({
      rows: `unnest(${arrays.join(', ')}) AS given (${columns.join(', ')})`,
      allowed: fence ? 'EXISTS (SELECT FROM fence)' : 'true',
      bytes: group === 'output' ? `${place(data)}::bytea` : '',
    });
    steps.push(`${group}_written AS (${written})`);
  }
  const result = fence ? 'SELECT count(*)::integer AS passed FROM fence' : 'SELECT 1 AS passed';
  const text = steps.length > 0 ? `WITH ${steps.join(', ')} ${result}` : result;
  return { name: `${fence ? 'fenced' : 'free'}:${groups.join(',')}`, text, values };
}

/** One statement, or a transaction whose fence comes last: the holder's row is locked only while it commits. */
async function applyOnce(connection: PostgresConnection, parts: readonly Part[], fence: Fence): Promise<boolean> {
  const [last, ...earlier] = parts.toReversed();
  if (!last) return true;
  const finish = async (): Promise<boolean> => (await connection.run(partStatement(last, fence)))[0]?.passed === 1;
  if (earlier.length === 0) return finish();
  const refused = outdated();
  try {
    await transaction(connection, async () => {
      for (const part of earlier.toReversed()) await connection.run(partStatement(part));
      if (!(await finish())) throw refused;
    });
    return true;
  } catch (thrown) {
    if (thrown === refused) return false;
    throw thrown;
  }
}

function outdated(): Fault {
  return new Fault('stale', 'Another process has become the holder of the database.', {
    remedy: 'Nothing: this process ends and starts again as a standby.',
  });
}

async function isApplied(connection: PostgresConnection, fence: Fence): Promise<boolean> {
  const [row] = await connection.query('SELECT epoch, batch FROM cluster');
  return Number(row?.epoch) === fence.epoch && Number(row?.batch) === fence.batch;
}

export interface PostgresWriter {
  write(parts: readonly Part[]): Promise<void>;
}

export interface WriterOptions {
  readonly client: PostgresClient;
  readonly epoch: number;
  readonly clock: Clock;
  leaseLeftMs(): number;
}

/** Writes batch after batch; one that got no clear answer is repeated, and its number keeps it from being applied twice. */
export function postgresWriter({ client, epoch, clock, leaseLeftMs }: WriterOptions): PostgresWriter {
  let batch = 0;

  async function attempt(parts: readonly Part[]): Promise<void> {
    const connection = await client.connection();
    const fence = { epoch, batch };
    if (await applyOnce(connection, parts, fence)) return;
    // Refused: an earlier try may have come through after all.
    if (!(await isApplied(connection, fence))) throw outdated();
  }

  return {
    async write(parts) {
      batch += 1;
      for (;;) {
        try {
          return await attempt(parts);
        } catch (thrown) {
          if (!isPassing(thrown) || leaseLeftMs() <= RETRY_AFTER_MS) throw thrown;
          await clock.sleep(RETRY_AFTER_MS);
        }
      }
    },
  };
}

// A transaction of ordinary size is one statement: it costs one round trip and can never be left half way.
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { SEPARATOR } from '../columns.ts';
import { BYTES_CELLS, type HistoryTable } from '../history-tables.ts';
import { type Cell, LIVE_COLUMNS, type Part } from '../parts.ts';
import { type SqlValue, transaction } from '../sql.ts';
import type { PostgresClient, PostgresConnection, Statement } from './client.ts';
import { isPassing } from './fault.ts';

const RETRY_AFTER_MS = 100;

/** One kind of writing: from the cells of a part to one statement. */
interface Writing {
  readonly name: string;
  /** The cells of a row, with their types. */
  readonly cells: readonly { readonly name: string; readonly type: string }[];
  readonly needsBytes: boolean;
  cellsIn(part: Part): readonly Cell[];
  sql(given: Given): string;
}

/** What a writing is made of: its rows, whether they may be written, the bytes of the part. */
interface Given {
  readonly rows: string;
  readonly allowed: string;
  readonly bytes: string;
}

const texts = (names: readonly string[]) => names.map((name) => ({ name, type: 'text' }));

const PUTS: Writing = {
  name: 'puts',
  cells: texts(LIVE_COLUMNS.puts),
  needsBytes: false,
  cellsIn: ({ puts }) => puts,
  sql: ({ rows, allowed }) => `INSERT INTO live (kind, id, body) SELECT kind, id, body FROM ${rows} WHERE ${allowed}
    ON CONFLICT (kind, id) DO UPDATE SET body = excluded.body`,
};

const DROPS: Writing = {
  name: 'drops',
  cells: texts(LIVE_COLUMNS.drops),
  needsBytes: false,
  cellsIn: ({ drops }) => drops,
  sql: ({ rows, allowed }) =>
    `DELETE FROM live USING ${rows} WHERE live.kind = given.kind AND live.id = given.id AND ${allowed}`,
};

const TYPES = { text: 'text', json: 'text', time: 'double precision', number: 'bigint', bytes: 'bytea' } as const;

// History rows that come again are the same rows: the first is kept.
function appending({ name, columns }: HistoryTable): Writing {
  const names = columns.map((column) => column.name);
  const placed = columns.map(
    ({ name: each, is }) =>
      (bytes: string) =>
        is === 'bytes' ? `substring(${bytes} FROM start + 1 FOR size)` : each,
  );
  return {
    name,
    cells: columns.flatMap(({ name: each, is }) =>
      is === 'bytes'
        ? BYTES_CELLS.map((cell) => ({ name: cell as string, type: 'integer' }))
        : [{ name: each, type: TYPES[is] }],
    ),
    needsBytes: columns.some(({ is }) => is === 'bytes'),
    cellsIn: ({ appended }) => appended[name] ?? [],
    sql: ({ rows, allowed, bytes }) => `INSERT INTO ${name} (${names.join(', ')})
      SELECT ${placed.map((place) => place(bytes)).join(', ')} FROM ${rows} WHERE ${allowed} ON CONFLICT DO NOTHING`,
  };
}

/** All that a part can hold for a database with these histories. */
export function writingsFor(histories: readonly HistoryTable[]): readonly Writing[] {
  return [PUTS, DROPS, ...histories.map(appending)];
}

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
export function partStatement(writings: readonly Writing[], part: Part, fence?: Fence): Statement {
  const values: SqlValue[] = [];
  const place = (value: SqlValue): string => `$${values.push(value)}`;
  const steps: string[] = [];
  if (fence) {
    const [batch, epoch] = [place(fence.batch), place(fence.epoch)];
    steps.push(`fence AS (UPDATE cluster SET batch = ${batch}::bigint
      WHERE epoch = ${epoch}::bigint AND batch = ${batch}::bigint - 1 RETURNING 1)`);
  }
  const needed = writings.filter((writing) => writing.cellsIn(part).length > 0);
  for (const writing of needed) {
    const cells = writing.cellsIn(part);
    const arrays = writing.cells.map(({ type }, index) => {
      const text = place(columnOf(cells, index, writing.cells.length));
      return `string_to_array(${text}::text, E'\\x1f', '')::${type}[]`;
    });
    const written = writing.sql({
      rows: `unnest(${arrays.join(', ')}) AS given (${writing.cells.map(({ name }) => name).join(', ')})`,
      allowed: fence ? 'EXISTS (SELECT FROM fence)' : 'true',
      bytes: writing.needsBytes ? `${place(part.data)}::bytea` : '',
    });
    steps.push(`${writing.name}_written AS (${written})`);
  }
  const result = fence ? 'SELECT count(*)::integer AS passed FROM fence' : 'SELECT 1 AS passed';
  const text = steps.length > 0 ? `WITH ${steps.join(', ')} ${result}` : result;
  return { name: `${fence ? 'fenced' : 'free'}:${needed.map(({ name }) => name).join(',')}`, text, values };
}

/** One statement, or a transaction whose fence comes last: the holder's row is locked only while it commits. */
async function applyOnce(
  { connection, writings }: { readonly connection: PostgresConnection; readonly writings: readonly Writing[] },
  parts: readonly Part[],
  fence: Fence,
): Promise<boolean> {
  const [last, ...earlier] = parts.toReversed();
  if (!last) return true;
  const finish = async (): Promise<boolean> =>
    (await connection.run(partStatement(writings, last, fence)))[0]?.passed === 1;
  if (earlier.length === 0) return finish();
  const refused = outdated();
  try {
    await transaction(connection, async () => {
      for (const part of earlier.toReversed()) await connection.run(partStatement(writings, part));
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
    remedy: 'This process exits. After a restart it is a standby.',
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
  readonly histories: readonly HistoryTable[];
  readonly epoch: number;
  readonly clock: Clock;
  leaseLeftMs(): number;
}

/** Writes batch after batch; one that got no clear answer is repeated, and its number keeps it from being applied twice. */
export function postgresWriter({ client, histories, epoch, clock, leaseLeftMs }: WriterOptions): PostgresWriter {
  const writings = writingsFor(histories);
  let batch = 0;

  async function attempt(parts: readonly Part[]): Promise<void> {
    const connection = await client.connection();
    const fence = { epoch, batch };
    if (await applyOnce({ connection, writings }, parts, fence)) return;
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

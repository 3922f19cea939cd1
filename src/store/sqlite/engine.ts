import { systemClock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { type Held, takeCluster } from '../cluster.ts';
import type { Engine, LiveRow, Setup, ThreadListener } from '../engine.ts';
import { migrate } from '../migrate.ts';
import { historyQueries, LOAD_SQL } from '../queries.ts';
import { type SqlRow, type SqlValue, transaction } from '../sql.ts';
import { openSqlite, ownFile, type SqliteConnection } from './connection.ts';
import {
  APPLICATION_ID,
  databaseFile,
  isOurs,
  lockDirectory,
  makeDirectory,
  refuseLost,
  watchFile,
} from './directory.ts';
import { type SqliteWriter, sqliteWriter } from './writer.ts';

type SqliteSetup = Extract<Setup, { role: 'sqlite' }>;

// Checkpoints are made between transactions: left to SQLite they would make every some-hundredth commit wait.
// Rows are in memory and histories grow at their ends: a larger cache would only fill with pages that are not read again.
const SETTINGS = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA wal_autocheckpoint = 0;
  PRAGMA journal_size_limit = 67108864;
  PRAGMA cache_size = -8192;
  PRAGMA temp_store = MEMORY;
`;

const LOOK_EVERY_MS = 5_000;

interface Opened {
  readonly connection: SqliteConnection;
  /** Throws where the file is no longer the one that was opened. */
  readonly mustBeThere: () => void;
  readonly held: Held;
  readonly unlock: () => void;
}

/** Before anything is changed in it. */
async function refuseForeign(connection: SqliteConnection): Promise<void> {
  const tables = await connection.query('SELECT name FROM sqlite_master LIMIT 1');
  if (tables.length === 0 || (await isOurs(connection))) return;
  throw new Fault('invalid', `${connection.file} is a database of another program.`, {
    at: connection.file,
    remedy: 'Name another directory.',
  });
}

async function openHeld({ directory, histories, newCluster, advertised }: SqliteSetup): Promise<Opened> {
  makeDirectory(directory);
  const unlock = lockDirectory(directory);
  const file = databaseFile(directory);
  try {
    refuseLost(directory);
    ownFile(file);
    const connection = openSqlite(file);
    await refuseForeign(connection);
    connection.exec(SETTINGS);
    const held = await transaction(connection, async () => {
      await migrate(connection, histories);
      connection.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
      return takeCluster(connection, { newCluster, advertised, leaseEndsAt: '0' });
    });
    connection.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    return { connection, held, unlock, mustBeThere: watchFile(file) };
  } catch (thrown) {
    unlock();
    throw thrown;
  }
}

/** A database of one process: the process that has the lock of the directory is the holder for its whole life. */
export function sqliteEngine(setup: SqliteSetup, listener: ThreadListener): Engine {
  const queries = historyQueries(setup.histories);
  let opened: Opened | undefined;
  let writer: SqliteWriter | undefined;
  let stopLooking = (): void => {};

  function current(): Opened {
    if (opened) return opened;
    throw new Fault('internal', 'Only the holder can use the database.');
  }

  /** Also while nothing is written: a server whose data is gone must not look ready. */
  function look(): void {
    try {
      opened?.mustBeThere();
    } catch (thrown) {
      return listener.lost(Fault.from(thrown));
    }
    stopLooking = systemClock.alarm(LOOK_EVERY_MS, look);
  }

  const read = (text: string, values: readonly SqlValue[]): Promise<readonly SqlRow[]> =>
    current().connection.query(text, values);

  return {
    async hold() {
      opened ??= await openHeld(setup);
      const { held, connection } = opened;
      writer ??= sqliteWriter(connection, setup.histories, { clock: systemClock, listener });
      stopLooking();
      look();
      listener.holder({ epoch: held.epoch, advertised: JSON.parse(setup.advertised) });
      return held;
    },
    async load({ kind, id }, limit) {
      return (await read(LOAD_SQL, [kind, id, limit])) as unknown as readonly LiveRow[];
    },
    async write(parts) {
      const { mustBeThere } = current();
      writer?.write(parts);
      // Afterwards: what is acknowledged was written to a file that still has its name.
      mustBeThere();
    },
    async ask(question) {
      const { text, values } = queries.page(question);
      return (await read(text, values)).map((row) => row.body as string);
    },
    async askPieces(question) {
      const { text, values, read: readRow } = queries.pieces(question);
      return (await read(text, values)).map(readRow);
    },
    async forget(name, before, limit) {
      const gone = (await read(queries.forget(name), [before, limit, current().held.epoch])).length;
      writer?.noteForgotten(gone);
      return gone;
    },
    async close() {
      stopLooking();
      if (!opened) return;
      const { connection, unlock } = opened;
      opened = undefined;
      connection.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      connection.close();
      unlock();
    },
  };
}

import { Fault } from '#core/fault.ts';
import { silentLog } from '#core/log.ts';
import { systemRandom } from '#core/random.ts';
import type { Store } from '#core/store.ts';
import { openDatabase } from '#store/database.ts';
import { openStore } from '#store/store.ts';
import { startPostgres } from '#store/testing/postgres.ts';
import { withFolder } from './scratch.ts';

export interface Database {
  readonly kind: 'sqlite' | 'postgres';
  readonly url: string;
}

/** Runs on a new SQLite directory, then on a new database of a real PostgreSQL that waits for its disk. */
export async function onEachStore(run: (database: Database) => Promise<void>): Promise<void> {
  await withFolder((url) => run({ kind: 'sqlite', url }));
  await onPostgres((database) => database().then((url) => run({ kind: 'postgres', url })));
}

/** Runs with a real PostgreSQL; each call of `database` makes a new one. */
export async function onPostgres(run: (database: () => Promise<string>) => Promise<void>): Promise<void> {
  const postgres = await startPostgres(['fsync=on', 'max_connections=100']);
  try {
    await run(() => postgres.database());
  } finally {
    await postgres.stop();
  }
}

/** Opens and holds a database; one that fails ends the bench. */
export async function openHeld(url: string): Promise<Store> {
  const fail = (fault: Fault): never => {
    throw new Fault('internal', `The store failed: ${fault.message}`, { cause: fault });
  };
  const replica = await openDatabase(url, { random: systemRandom, log: silentLog, advertised: null, lost: fail });
  return openStore(await replica.hold(new AbortController().signal), fail);
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { silentLog } from '#core/log.ts';
import { HISTORIES, put, type Store } from '#core/store.ts';
import { restore } from './copies.ts';
import { historyTables } from './history-tables.ts';
import { migrate } from './migrate.ts';
import { openPostgres } from './postgres/client.ts';
import { lockSchema } from './postgres/schema-lock.ts';
import { MIGRATIONS, type Migration } from './schema.ts';
import { type Sql, transaction } from './sql.ts';
import { openSqlite } from './sqlite/connection.ts';
import { APPLICATION_ID, databaseFile, makeDirectory } from './sqlite/directory.ts';
import { openHeld, scratchFolder } from './testing/databases.ts';
import { type SharedPostgres, sharedPostgres } from './testing/postgres.ts';
import { sampleWorker } from './testing/rows.ts';

let postgres: SharedPostgres;
let folder: ReturnType<typeof scratchFolder>;
let count = 0;
beforeAll(async () => {
  postgres = await sharedPostgres();
  folder = scratchFolder();
});
afterAll(() => folder.remove());

interface Place {
  readonly url: string;
  /** A connection of one's own with that database. */
  open(): Promise<Sql & { close(): unknown }>;
}

const places: readonly [string, () => Promise<Place>][] = [
  [
    'SQLite',
    async () => {
      const url = join(folder.path, String(++count));
      return { url, open: async () => openSqlite(databaseFile(url)) };
    },
  ],
  [
    'PostgreSQL',
    async () => {
      const url = await postgres.database();
      // One connection, so that a transaction stays on it.
      const open = async () => {
        const client = openPostgres(url);
        return { ...(await client.connection()), close: () => client.close() };
      };
      return { url, open };
    },
  ],
];

/** A later version of the program: another column, workers in another form, and no secrets. */
const second: Migration = {
  name: 'prices',
  statements: ({ text }) => [`ALTER TABLE decisions ADD COLUMN price ${text}`],
  reshape(kind, row) {
    if (kind === 'secrets') return undefined;
    return kind === 'workers' ? { ...row, price: 1 } : row;
  },
};

interface WrittenRow {
  readonly table: string;
  readonly row: Readonly<Record<string, string | number | null | { readonly base64: string }>>;
}

/** What a server of version 1 had written after some minutes of work, row by row. */
const VERSION_1: readonly WrittenRow[] = readFileSync(new URL('./testing/version-1.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line));

const writtenIn = (table: string) => VERSION_1.filter((each) => each.table === table).map(({ row }) => row);

async function writeVersion1(sql: Sql): Promise<void> {
  for (const { table, row } of VERSION_1) {
    const values = Object.values(row).map((value) =>
      value !== null && typeof value === 'object' ? Buffer.from(value.base64, 'base64') : value,
    );
    const marks = values.map(() => '?').join(', ');
    await sql.query(`INSERT INTO ${table} (${Object.keys(row).join(', ')}) VALUES (${marks})`, values);
  }
}

/** All that version 1 had written, and decisions by their new subject. */
async function expectVersion1({ view, history }: Store): Promise<void> {
  const bodies = (table: string) => writtenIn(table).map(({ body }) => JSON.parse(String(body)));
  const [pool] = [...view.pools.all()];
  const page = { limit: 100, order: 'oldest first' } as const;
  expect(pool?.name).toBe('local');
  expect([...view.workers.all()]).toEqual(
    writtenIn('live')
      .filter(({ kind }) => kind === 'workers')
      .map(({ body }) => JSON.parse(String(body))),
  );
  expect(await history.events({ pool: pool?.id }, page)).toEqual(
    bodies('events').filter((event) => event.pool === pool?.id),
  );
  expect(await history.ended({}, page)).toEqual(bodies('ended'));
  const [first] = writtenIn('output');
  expect(await history.output({ session: String(first?.session) }, 10)).toHaveLength(1);
  const wanted = bodies('decisions').map(({ pool: id, ...rest }) => ({ subject: `pool/${id}`, ...rest }));
  expect(wanted.length).toBeGreaterThan(5);
  expect(await history.decisions({ subject: `pool/${pool?.id}` }, page)).toEqual(wanted);
  const [newer] = await history.decisions({ subject: `pool/${pool?.id}` }, { ...page, limit: 1, after: wanted[0].id });
  expect(newer).toEqual(wanted[1]);
  expect(await history.decisions({ subject: pool?.id }, page)).toEqual([]);
}

/** A database as a server of version 1 left it. */
async function ofVersion1(name: string): Promise<Place> {
  const [, make] = places.find(([each]) => each === name) as (typeof places)[number];
  const made = await make();
  if (name === 'SQLite') makeDirectory(made.url);
  const sql = await made.open();
  await transaction(sql, async () => {
    if (name === 'PostgreSQL') await lockSchema(sql);
    else await sql.query(`PRAGMA application_id = ${APPLICATION_ID}`);
    await migrate(sql, [], MIGRATIONS.slice(0, 1));
    await writeVersion1(sql);
  });
  await sql.close();
  return made;
}

describe.each(places)('on %s', (name, place) => {
  async function upgraded(sql: Sql, migrations: readonly Migration[]): Promise<number> {
    return transaction(sql, async () => {
      if (name === 'PostgreSQL') await lockSchema(sql);
      return migrate(sql, historyTables(HISTORIES), migrations);
    });
  }

  test('opens a store of version 1, with its rows, its histories and its decisions', async () => {
    const { url } = await ofVersion1(name);

    const store = await openHeld(url);
    await expectVersion1(store);
    await store.close();
    const again = await openHeld(url);
    await expectVersion1(again);
    await again.close();
  });

  test('restores a backup of version 1, and backs up what it has become', async () => {
    const files = ['old', 'next'].map((file) => join(folder.path, `${name}-${file}.db`)) as [string, string];
    const restoring = { log: silentLog, clock: systemClock };
    // A backup is a file of SQLite, whatever it is made of.
    const sql = await (await ofVersion1('SQLite')).open();
    await sql.query('VACUUM INTO ?', [files[0]]);
    await sql.close();
    const [first, second] = [await place(), await place()];

    await restore(files[0], first.url, restoring);
    const store = await openHeld(first.url);
    await expectVersion1(store);
    await store.backup(files[1]);
    await store.close();
    await restore(files[1], second.url, restoring);

    const restored = await openHeld(second.url);
    await expectVersion1(restored);
    await restored.close();
  });

  async function filled(): Promise<Place> {
    const made = await place();
    const store = await openHeld(made.url);
    const rows = Array.from({ length: 450 }, (_, at) => put('workers', sampleWorker(`m-${at}`)));
    await store.commit([...rows, put('secrets', { id: 's', value: 'x' }), put('tokens', sampleToken)]);
    await store.close();
    return made;
  }

  test('brings a database of the previous version to the next, rows and all', async () => {
    const { open } = await filled();
    const sql = await open();

    const before = await upgraded(sql, [...MIGRATIONS, second]);
    const again = await upgraded(sql, [...MIGRATIONS, second]);

    const live = await sql.query('SELECT kind, body FROM live');
    const names = await sql.query('SELECT name FROM migrations ORDER BY version');
    await sql.query('SELECT price FROM decisions');
    await sql.close();
    expect([before, again]).toEqual([MIGRATIONS.length, MIGRATIONS.length + 1]);
    expect(names).toEqual([...MIGRATIONS, second].map((migration) => ({ name: migration.name })));
    expect(live.filter((row) => row.kind === 'workers' && JSON.parse(String(row.body)).price === 1)).toHaveLength(450);
    expect(live.map((row) => row.kind).filter((kind) => kind !== 'workers')).toEqual(['tokens']);
  });

  test('changes nothing when a step fails', async () => {
    const { url, open } = await filled();
    const sql = await open();
    const broken: Migration = {
      ...second,
      statements: (dialect) => [...second.statements(dialect), 'SELECT nonsense'],
    };

    await expect(upgraded(sql, [...MIGRATIONS, broken])).rejects.toThrow('nonsense');
    const again = await upgraded(sql, MIGRATIONS);
    await sql.close();

    const store = await openHeld(url);
    expect(again).toBe(MIGRATIONS.length);
    expect(store.view.workers.get('m-1')).toEqual(sampleWorker('m-1'));
    expect(store.view.secrets.size).toBe(1);
    await store.close();
  });

  test('refuses a database of a newer version and names both', async () => {
    const { url, open } = await filled();
    const sql = await open();
    await sql.query('INSERT INTO migrations VALUES (?, ?, ?)', [99, 'from the future', 0]);
    await sql.close();

    await expect(openHeld(url)).rejects.toMatchObject({
      kind: 'unsupported',
      message: `The database has version 99; this program supports versions up to ${MIGRATIONS.length}.`,
      remedy: expect.stringContaining('99'),
    });
  });
});

const sampleToken = { id: 't', name: 'ci', hash: 'h', use: { role: 'viewer' }, createdAt: 1, createdBy: 'me' } as const;

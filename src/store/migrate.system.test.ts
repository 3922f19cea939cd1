import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HISTORIES, put } from '#core/store.ts';
import { historyTables } from './history-tables.ts';
import { migrate } from './migrate.ts';
import { openPostgres } from './postgres/client.ts';
import { lockSchema } from './postgres/schema-lock.ts';
import { MIGRATIONS, type Migration } from './schema.ts';
import { type Sql, transaction } from './sql.ts';
import { openSqlite } from './sqlite/connection.ts';
import { databaseFile } from './sqlite/directory.ts';
import { openHeld, scratchFolder } from './testing/databases.ts';
import { startPostgres, type TestPostgres } from './testing/postgres.ts';
import { sampleWorker } from './testing/rows.ts';

let postgres: TestPostgres;
let folder: ReturnType<typeof scratchFolder>;
let count = 0;
beforeAll(async () => {
  postgres = await startPostgres();
  folder = scratchFolder();
});
afterAll(async () => {
  folder.remove();
  await postgres.stop();
});

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

describe.each(places)('on %s', (name, place) => {
  async function upgraded(sql: Sql, migrations: readonly Migration[]): Promise<number> {
    return transaction(sql, async () => {
      if (name === 'PostgreSQL') await lockSchema(sql);
      return migrate(sql, historyTables(HISTORIES), migrations);
    });
  }

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
      message: `The database has version 99; this program knows versions up to ${MIGRATIONS.length}.`,
      remedy: expect.stringContaining('99'),
    });
  });
});

const sampleToken = { id: 't', name: 'ci', hash: 'h', use: { role: 'viewer' }, createdAt: 1, createdBy: 'me' } as const;

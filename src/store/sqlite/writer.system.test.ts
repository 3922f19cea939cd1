import { statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { HISTORIES } from '#core/store.ts';
import { historyTables } from '../history-tables.ts';
import { migrate } from '../migrate.ts';
import type { Part } from '../parts.ts';
import { scratchFolder } from '../testing/databases.ts';
import { openSqlite, type SqliteConnection } from './connection.ts';
import { type SqliteWriter, sqliteWriter } from './writer.ts';

const PAGE_WITH_HEAD_BYTES = 4_096 + 24;
const BODY = JSON.stringify({ text: 'x'.repeat(500) });

let folder: ReturnType<typeof scratchFolder>;
let connection: SqliteConnection;
let writer: SqliteWriter;
let file: string;

beforeEach(async () => {
  folder = scratchFolder();
  file = join(folder.path, 'muster.db');
  connection = openSqlite(file);
  connection.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = 0');
  const histories = historyTables(HISTORIES);
  await migrate(connection, histories);
  connection.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  const clock = { soon: (run: () => void) => run() };
  writer = sqliteWriter(connection, histories, { clock, listener: { log: () => {} } });
});

afterEach(() => {
  connection.close();
  folder.remove();
});

const rows = (count: number, idOf: (n: number) => string): Part => ({
  puts: Array.from({ length: count }, (_, n) => ['sessions', idOf(n), BODY]).flat(),
  drops: [],
  appended: {},
  data: new Uint8Array(),
});

const pagesOfLog = (): number => statSync(`${file}-wal`).size / PAGE_WITH_HEAD_BYTES;

test.each([1, 7, 8, 9, 16, 21])('%i rows of a transaction are put, dropped and appended, each once', async (count) => {
  const ids = Array.from({ length: count }, (_, n) => `s-${n}`);
  const [kept = '', ...dropped] = ids;
  const body = (id: string): string => JSON.stringify({ id });
  writer.write([
    {
      puts: [...ids, 'other'].flatMap((id) => ['sessions', id, '{}']),
      drops: [],
      appended: {},
      data: new Uint8Array(),
    },
    { puts: ids.flatMap((id) => ['sessions', id, body(id)]), drops: [], appended: {}, data: new Uint8Array() },
    {
      puts: [],
      drops: dropped.flatMap((id) => ['sessions', id]),
      appended: { ended: ids.flatMap((id, at) => [id, at, 'a key', 'a pool', 'a name', body(id)]) },
      data: new Uint8Array(),
    },
    {
      puts: [],
      drops: [],
      appended: { ended: [kept, 9, 'a key', 'a pool', 'a name', 'again'] },
      data: new Uint8Array(),
    },
  ]);

  expect(await connection.query('SELECT id, body FROM live ORDER BY id')).toEqual([
    { id: 'other', body: '{}' },
    { id: kept, body: body(kept) },
  ]);
  expect(await connection.query('SELECT id, at, body FROM ended ORDER BY at')).toEqual(
    ids.map((id, at) => ({ id, at, body: body(id) })),
  );
});

test('the log is copied after some thousand pages, also where each row is a transaction', () => {
  for (let n = 0; n < 2_000; n++) writer.write([rows(1, () => `s-${String(n).padStart(9, '0')}`)]);

  expect(pagesOfLog()).toBeGreaterThan(500);
  expect(pagesOfLog()).toBeLessThan(3_000);
});

test('neighbouring rows share pages: then it takes more of them, and no longer log', () => {
  for (let n = 0; n < 200; n++) writer.write([rows(100, (at) => `s-${String(n * 100 + at).padStart(9, '0')}`)]);

  expect(pagesOfLog()).toBeGreaterThan(800);
  expect(pagesOfLog()).toBeLessThan(1_500);
});

test('a change from crowds to single rows at random places makes the log a few times longer, once', () => {
  for (let n = 0; n < 200; n++) writer.write([rows(100, (at) => `s-${String(n * 100 + at).padStart(9, '0')}`)]);
  for (let n = 0; n < 3_000; n++) writer.write([rows(1, () => `${(n * 7_919) % 9_973}-s`)]);

  expect(pagesOfLog()).toBeLessThan(5_000);
});

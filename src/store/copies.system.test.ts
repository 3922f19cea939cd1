import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { silentLog } from '#core/log.ts';
import { append, put, type Store } from '#core/store.ts';
import { restore } from './copies.ts';
import { openHeld, scratchFolder } from './testing/databases.ts';
import { PASSWORD, type SharedPostgres, sharedPostgres } from './testing/postgres.ts';
import { sampleEvent, sampleOutput, sampleSession, sampleWorker } from './testing/rows.ts';

let postgres: SharedPostgres;
let folder: ReturnType<typeof scratchFolder>;
beforeAll(async () => {
  postgres = await sharedPostgres();
});
beforeEach(() => {
  folder = scratchFolder();
});
afterEach(() => folder.remove());

const inFolder = (name: string): string => join(folder.path, name);
const restoreInto = (file: string, url: string): Promise<void> =>
  restore(file, url, { log: silentLog, clock: systemClock });

async function fill(store: Store): Promise<void> {
  const workers = Array.from({ length: 700 }, (_, at) => put('workers', sampleWorker(`m-${1_000 + at}`)));
  const events = Array.from({ length: 450 }, (_, at) => append('events', sampleEvent(`e${at}`, { at: at + 0.5 })));
  const output = [1, 2, 3].map((seq) =>
    append('output', sampleOutput('s1', seq, { data: new Uint8Array(65_536).fill(seq) })),
  );
  const end = { at: 9, how: 'exited' as const, exitCode: 0 };
  await store.commit([...workers, ...events, ...output, append('ended', sampleSession('s1', { end, key: 'k' }))]);
}

const content = async ({ view, history, cluster }: Store): Promise<unknown> => ({
  cluster,
  workers: [...view.workers.all()],
  events: await history.events({}, { limit: 10_000, order: 'oldest first' }),
  ended: await history.ended({ key: 'k' }, { limit: 10, order: 'oldest first' }),
  output: (await history.output({ session: 's1' }, 10)).map(({ seq, data }) => [seq, data.length, data[0]]),
});

const places: readonly [string, (name: string) => Promise<string>][] = [
  ['SQLite', async (name) => inFolder(name)],
  ['PostgreSQL', () => postgres.database()],
];
const ways = places.flatMap(([from, a]) => places.map(([to, b]) => [from, to, a, b] as const));

test.each(ways)('a backup of %s starts a server on %s', async (_from, _to, from, to) => {
  const [source, target] = [await from('source'), await to('target')];
  const before = systemClock.now();
  const store = await openHeld(source);
  await fill(store);
  const wanted = await content(store);

  await store.backup(inFolder('backup.db'));
  await store.commit([put('workers', sampleWorker('too late'))]);
  await store.close();
  await restoreInto(inFolder('backup.db'), target);

  const restored = await openHeld(target);
  const found = await content(restored);
  const { epoch, restoredAt } = restored;
  await restored.close();
  expect(found).toEqual(wanted);
  expect(epoch).toBe(1_000_002);
  expect(restoredAt).toBeGreaterThanOrEqual(before);
  expect(statSync(inFolder('backup.db')).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder.path).filter((name) => name.includes('partial'))).toEqual([]);
});

test.each(places)('a backup of %s made while others commit has each commit whole or not at all', async (_, place) => {
  const store = await openHeld(await place('source'));
  await fill(store);
  let isOver = false;
  const committing = (async () => {
    for (let at = 0; !isOver; at++) {
      await store.commit([put('workers', sampleWorker(`a-${at}`)), append('events', sampleEvent(`pair-${at}`))]);
    }
  })();

  await store.backup(inFolder('backup.db'));
  isOver = true;
  await committing;
  await store.close();

  await restoreInto(inFolder('backup.db'), inFolder('restored'));
  const restored = await openHeld(inFolder('restored'));
  const pairs = await restored.history.events({}, { limit: 10_000, order: 'newest first', after: 'pair-~' });
  const rows = [...restored.view.workers.all()].filter((worker) => worker.id.startsWith('a-'));
  await restored.close();
  expect(rows.map((row) => row.id.slice(2)).toSorted()).toEqual(
    pairs
      .filter((event) => event.id.startsWith('pair-'))
      .map((event) => event.id.slice(5))
      .toSorted(),
  );
});

test('a backup overwrites nothing, and leaves nothing when it fails', async () => {
  const store = await openHeld(inFolder('data'));
  writeFileSync(inFolder('mine.txt'), 'precious');

  await expect(store.backup(inFolder('mine.txt'))).rejects.toMatchObject({
    kind: 'conflict',
    at: inFolder('mine.txt'),
  });
  await expect(store.backup(inFolder('nowhere/backup.db'))).rejects.toMatchObject({ kind: 'missing' });
  await store.close();

  expect(readFileSync(inFolder('mine.txt'), 'utf8')).toBe('precious');
  expect(readdirSync(folder.path).toSorted()).toEqual(['data', 'mine.txt']);
});

test('a backup of PostgreSQL holds nothing that opens its holder', async () => {
  const store = await openHeld(await postgres.database());
  await store.backup(inFolder('backup.db'));
  await store.close();

  const copy = new DatabaseSync(inFolder('backup.db'));
  const rows = copy.prepare('SELECT advertised, lease_ends_at FROM cluster').all();
  copy.close();
  expect(rows).toEqual([{ advertised: 'null', lease_ends_at: 0 }]);
  expect(readFileSync(inFolder('backup.db')).includes(PASSWORD)).toBe(false);
});

describe('restore refuses', () => {
  let backup: string;
  beforeEach(async () => {
    const store = await openHeld(inFolder('data'));
    await fill(store);
    backup = inFolder('backup.db');
    await store.backup(backup);
    await store.close();
  });

  test('a place where a database is', async () => {
    const url = await postgres.database();
    await (await openHeld(url)).close();
    mkdirSync(inFolder('remains'));
    writeFileSync(inFolder('remains/muster.db-wal'), '');

    await expect(restoreInto(backup, inFolder('data'))).rejects.toMatchObject({ kind: 'conflict' });
    await expect(restoreInto(backup, inFolder('remains'))).rejects.toMatchObject({ kind: 'conflict' });
    await expect(restoreInto(backup, url)).rejects.toMatchObject({ kind: 'conflict' });
  });

  test('a directory that a server is using', async () => {
    const store = await openHeld(inFolder('data'));

    await expect(restoreInto(backup, inFolder('data'))).rejects.toMatchObject({ kind: 'conflict' });
    await store.close();
  });

  test('a file that is no backup of ours, and leaves nothing behind', async () => {
    writeFileSync(inFolder('text'), 'no database at all, but long enough to be taken for one');
    writeFileSync(inFolder('empty'), '');
    const other = new DatabaseSync(inFolder('other.db'));
    other.exec('CREATE TABLE live (id); CREATE TABLE cluster (id); CREATE TABLE migrations (version)');
    other.close();
    truncateSync(backup, statSync(backup).size - 40_960);

    for (const name of ['text', 'empty', 'other.db', 'backup.db']) {
      await expect(restoreInto(inFolder(name), inFolder('new')), name).rejects.toMatchObject({ kind: 'invalid' });
    }
    await expect(restoreInto(inFolder('absent'), inFolder('new'))).rejects.toMatchObject({ kind: 'missing' });
    expect(readdirSync(inFolder('new'))).toEqual(['muster.lock']);
    expect(existsSync(inFolder('absent'))).toBe(false);
  });

  test('a backup of a newer version', async () => {
    const copy = new DatabaseSync(backup);
    copy.exec("INSERT INTO migrations VALUES (99, 'from the future', 0)");
    copy.close();

    await expect(restoreInto(backup, inFolder('new'))).rejects.toMatchObject({ kind: 'unsupported' });
  });
});

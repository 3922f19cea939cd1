import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { append, put } from '#core/store.ts';
import { untilHolds } from '#core/testing/until.ts';
import { type Child, durableNumbers, startChild } from './testing/child.ts';
import { openHeld, openReplica, scratchFolder } from './testing/databases.ts';
import { sampleEvent, sampleWorker } from './testing/rows.ts';
import { storeLaws } from './testing/suite.ts';

storeLaws('SQLite', async () => {
  const folder = scratchFolder();
  return {
    open: async () => (await openReplica(folder.path)).hold(new AbortController().signal),
    remove: async () => folder.remove(),
  };
});

describe('SQLite', () => {
  let folder: ReturnType<typeof scratchFolder>;
  let children: Child[];
  const start = (shell?: string): Child => {
    const child = startChild(join(folder.path, 'data'), shell);
    children.push(child);
    return child;
  };

  beforeEach(() => {
    folder = scratchFolder();
    children = [];
  });
  afterEach(async () => {
    for (const child of children) child.process.kill('SIGKILL');
    await Promise.all(children.map((child) => child.ended));
    folder.remove();
  });

  test('keeps its files from the eyes of others', async () => {
    const directory = join(folder.path, 'new', 'data');
    const store = await openHeld(directory);
    await store.commit([put('workers', sampleWorker('m-1'))]);

    const modes = readdirSync(directory).map((name) => [name, statSync(join(directory, name)).mode & 0o777]);
    const directoryMode = statSync(directory).mode & 0o777;
    await store.close();

    expect(directoryMode).toBe(0o700);
    expect(modes.map(([name]) => name)).toContain('muster.db-wal');
    expect(modes.filter(([, mode]) => mode !== 0o600)).toEqual([]);
  });

  test.each(['removed', 'replaced', 'truncated'])(
    'acknowledges nothing once its file was %s, and names the remedy',
    async (how) => {
      const directory = join(folder.path, 'data');
      const store = await openHeld(directory);
      await store.commit([put('workers', sampleWorker('m-1'))]);
      if (how !== 'truncated') rmSync(directory, { recursive: true });
      if (how === 'replaced') mkdirSync(directory);
      if (how !== 'removed') writeFileSync(join(directory, 'muster.db'), '');

      const writing = store.commit([put('workers', sampleWorker('m-2'))]);

      await expect(writing).rejects.toMatchObject({
        kind: 'unavailable',
        message: expect.stringContaining(`was ${how} while the server used it`),
        remedy: expect.stringContaining('restore a backup'),
      });
      await store.close();
    },
  );

  test('ends while nothing is written, once its file is gone', async () => {
    const directory = join(folder.path, 'data');
    const replica = await openReplica(directory);
    await replica.hold(new AbortController().signal);
    rmSync(directory, { recursive: true });

    await untilHolds(() => expect(replica.losses).toMatchObject([{ kind: 'unavailable' }]));
    await replica.close();
  });

  test.each(['missing', 'empty'])('refuses a directory that was in use, where its database is %s', async (how) => {
    const directory = join(folder.path, 'data');
    await (await openHeld(directory)).close();
    writeFileSync(join(directory, 'admin.token'), 'a token');
    rmSync(join(directory, 'muster.db'));
    if (how === 'empty') writeFileSync(join(directory, 'muster.db'), '');

    await expect(openHeld(directory)).rejects.toMatchObject({
      kind: 'missing',
      message: expect.stringContaining(`is ${how}, but the directory was in use`),
      remedy: expect.stringContaining('restore a backup'),
    });
    rmSync(join(directory, 'admin.token'));
    await (await openHeld(directory)).close();
  });

  test('leaves the rights of a directory that was there before', async () => {
    const directory = join(folder.path, 'mine');
    mkdirSync(directory, { mode: 0o755 });

    await (await openHeld(directory)).close();

    expect(statSync(directory).mode & 0o777).toBe(0o755);
  });

  test('is for one process: a second one is refused, also within the same', async () => {
    const child = start();
    await child.hears((said) => said.said === 'durable');

    const second = openHeld(join(folder.path, 'data'));
    await expect(second).rejects.toMatchObject({ kind: 'conflict', at: join(folder.path, 'data') });
    const own = await openHeld(join(folder.path, 'other'));
    await expect(openHeld(join(folder.path, 'other'))).rejects.toMatchObject({ kind: 'conflict' });
    await own.close();
    const seen = durableNumbers(child).length;

    await child.hears((said) => said.said === 'durable' && said.number > seen + 10);
  });

  test('has every durable row after kill -9, and each commit whole or not at all', async () => {
    let epoch = 0;
    for (let round = 1; round <= 3; round++) {
      const child = start();
      await child.hears((said) => said.said === 'durable' && said.number > 150 * round);
      child.process.kill('SIGKILL');
      await child.ended;

      const store = await openHeld(join(folder.path, 'data'));
      const has = (name: string, number: number): boolean => store.view.workers.get(`${name}-${number}`) !== undefined;
      const missing = durableNumbers(child).filter((number) => !has('a', number) || !has('b', number));
      const halves = [...store.view.workers.all()].filter(
        ({ id }) => !has(id[0] === 'a' ? 'b' : 'a', Number(id.slice(2))),
      );
      epoch = store.epoch;
      await store.close();

      expect(missing).toEqual([]);
      expect(halves).toEqual([]);
    }
    expect(epoch).toBe(6);
  });

  test('refuses commits once the disk is full, and loses nothing that was durable', async () => {
    // In blocks of 512 bytes; Node ignores the signal that would end it.
    const child = start('ulimit -f 4096;');

    const refusal = await child.hears((said) => said.said === 'refused');
    await child.ended;
    const store = await openHeld(join(folder.path, 'data'));
    const missing = durableNumbers(child).filter((number) => !store.view.workers.get(`a-${number}`));
    await store.close();

    expect(refusal).toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('The store can no longer write'),
    });
    expect(durableNumbers(child).length).toBeGreaterThan(0);
    expect(missing).toEqual([]);
  });

  test('keeps its log short, also while it only forgets', async () => {
    const store = await openHeld(folder.path);
    const logBytes = (): number => statSync(join(folder.path, 'muster.db-wal')).size;
    const count = 20_000;
    for (let from = 0; from < count; from += 2_000) {
      const numbers = Array.from({ length: 2_000 }, (_, at) => from + at);
      // Subjects in no order, as they come: each row is in another page of their index.
      const event = (at: number) =>
        sampleEvent(`e${at.toString().padStart(5, '0')}`, { at, subject: `session/${(at * 7_919) % count}` });
      await store.commit(numbers.map((at) => append('events', event(at))));
    }
    const filledBytes = logBytes();

    const gone = await store.history.forget('events', count, count);
    const forgottenBytes = logBytes();
    await store.close();

    expect(gone).toBe(count);
    expect(forgottenBytes - filledBytes).toBeLessThan(16 * 2 ** 20);
  });

  test('says what is wrong with a place it cannot use', async () => {
    const file = join(folder.path, 'file');
    writeFileSync(file, '');
    mkdirSync(join(folder.path, 'foreign'));
    writeFileSync(join(folder.path, 'foreign', 'muster.db'), 'this is no database, but long enough to look like one');

    mkdirSync(join(folder.path, 'other'));
    const other = new DatabaseSync(join(folder.path, 'other', 'muster.db'));
    other.exec('CREATE TABLE theirs (id TEXT)');
    other.close();

    await expect(openHeld(join(file, 'data'))).rejects.toMatchObject({ kind: 'invalid' });
    await expect(openHeld(join(folder.path, 'foreign'))).rejects.toMatchObject({
      kind: 'invalid',
      message: expect.stringContaining('is not a database'),
    });
    await expect(openHeld(join(folder.path, 'other'))).rejects.toMatchObject({
      kind: 'invalid',
      message: expect.stringContaining('another program'),
    });
  });
});

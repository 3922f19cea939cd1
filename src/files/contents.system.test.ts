import { createHash, randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openHeld, scratchFolder } from '#store/testing/databases.ts';
import { sharedPostgres } from '#store/testing/postgres.ts';
import type { FileContents } from './contents.ts';
import { openContents } from './open-contents.ts';
import { hashesIn, piecesOf, sha, textOf } from './testing.ts';

const PLACES = ['SQLite: a directory', 'PostgreSQL: pieces in a table'] as const;
// Pieces of 256 KB: none, less than one, exactly one, exactly two, more than two.
const SIZES = [0, 1, 262_144, 524_288, 600_001];

describe.each(PLACES)('%s', (place) => {
  const opened: FileContents[] = [];
  let folder: ReturnType<typeof scratchFolder>;
  let url: string | undefined;
  let epoch = 0;

  beforeEach(async () => {
    folder = scratchFolder();
    if (place === 'SQLite: a directory') return;
    url = await (await sharedPostgres()).database();
    const store = await openHeld(url);
    epoch = store.epoch;
    await store.close();
  });

  afterEach(async () => {
    await Promise.all(opened.splice(0).map((contents) => contents.close()));
    folder.remove();
  });

  async function open(asEpoch = epoch): Promise<FileContents> {
    const store = url === undefined ? { kind: 'sqlite' as const } : { kind: 'postgres' as const, url };
    const contents = await openContents({ dataDir: folder.path, store, epoch: asEpoch });
    opened.push(contents);
    return contents;
  }

  test('bytes of any number come back as they were, also for the next process', async () => {
    const contents = await open();
    const all = SIZES.map((size) => randomBytes(size));
    const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
    for (const bytes of all) {
      async function* pieces() {
        for (let at = 0; at < bytes.length; at += 100_000) yield bytes.subarray(at, at + 100_000);
      }
      await (await contents.receive(pieces(), { hash: hashOf(bytes), mostBytes: 1e6 })).keep();
    }

    const next = await open();

    for (const bytes of all) {
      const read: Uint8Array[] = [];
      for await (const piece of next.read(hashOf(bytes))) read.push(piece);
      expect(Buffer.concat(read).equals(bytes), `${bytes.length} bytes`).toBe(true);
    }
    expect(await hashesIn(next)).toEqual(all.map(hashOf).sort());
  });

  test('what is not kept cannot be read, and leaves nothing behind', async () => {
    const contents = await open();
    const expected = { hash: sha('hello'), mostBytes: 10 };
    const received = await contents.receive(piecesOf('hello'), expected);
    await expect(textOf(contents.read(sha('hello')))).rejects.toMatchObject({ kind: 'missing' });
    await received.discard();
    await expect(contents.receive(piecesOf('hullo'), expected)).rejects.toMatchObject({ kind: 'invalid' });
    await expect(contents.receive(piecesOf('hello hello'), expected)).rejects.toMatchObject({ kind: 'invalid' });

    expect(await hashesIn(contents)).toEqual([]);
    expect(await readdir(join(folder.path, 'files', 'incoming'))).toEqual([]);
  });

  test('a file is dropped, and dropping it again is no error', async () => {
    const contents = await open();
    await (await contents.receive(piecesOf('hello'), { hash: sha('hello'), mostBytes: 10 })).keep();

    await contents.drop(sha('hello'));
    await contents.drop(sha('hello'));

    await expect(textOf(contents.read(sha('hello')))).rejects.toMatchObject({ kind: 'missing' });
    expect(await hashesIn(contents)).toEqual([]);
  });
});

test('PostgreSQL: a former holder cannot delete what its successor keeps', async () => {
  const folder = scratchFolder();
  const url = await (await sharedPostgres()).database();
  const { epoch, close } = await openHeld(url);
  const store = { kind: 'postgres' as const, url };
  const [former, contents] = [
    await openContents({ dataDir: folder.path, store, epoch: epoch - 1 }),
    await openContents({ dataDir: folder.path, store, epoch }),
  ];
  await (await contents.receive(piecesOf('hello'), { hash: sha('hello'), mostBytes: 10 })).keep();

  await former.drop(sha('hello'));

  expect(await textOf(contents.read(sha('hello')))).toBe('hello');
  await Promise.all([former.close(), contents.close(), close()]);
  folder.remove();
});

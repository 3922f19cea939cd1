import { describe, expect, it } from 'vitest';
import { HOUR_MS } from '#core/clock.ts';
import { drop } from '#core/store.ts';
import { leastUsed } from './room.ts';
import { fileEntry, filesWorld, hashesIn, manifestOf, piecesOf, sha, textOf } from './testing.ts';

describe('an upload', () => {
  it('can be read under its hash, and is missing no more', async () => {
    const { files, upload } = await filesWorld();
    expect(files.missing([sha('hello')], 't1')).toEqual([sha('hello')]);

    await upload('hello');

    expect(files.missing([sha('hello'), sha('other')], 't1')).toEqual([sha('other')]);
    expect(await textOf(files.read(sha('hello')))).toBe('hello');
  });

  it('whose bytes differ from its hash is refused, and nothing of it is kept', async () => {
    const { files, contents } = await filesWorld();

    await expect(files.put(sha('hello'), piecesOf('hel', 'lx'), 't1')).rejects.toThrow('not 2cf24dba');

    expect(files.missing([sha('hello')], 't1')).toHaveLength(1);
    expect(await hashesIn(contents)).toEqual([]);
  });

  it('is missing for another token until that has uploaded it too; the bytes are kept once', async () => {
    const { files, upload, contents } = await filesWorld();
    await upload('hello', 't1');

    expect(files.missing([sha('hello')], 't2')).toEqual([sha('hello')]);
    await expect(files.put(sha('hello'), piecesOf('something else'), 't2')).rejects.toThrow('The bytes have');
    expect(files.missing([sha('hello')], 't2')).toEqual([sha('hello')]);
    await upload('hello', 't2');

    expect(files.missing([sha('hello')], 't2')).toEqual([]);
    expect(files.missing([sha('hello')], 't1')).toEqual([]);
    expect(await hashesIn(contents)).toHaveLength(1);
    expect(files.usage()).toMatchObject({ files: 1, bytes: 5 });
  });

  it('of the same file by two at once keeps it once, and both have it', async () => {
    const { files, upload } = await filesWorld();

    await Promise.all([upload('hello', 't1'), upload('hello', 't2'), upload('hello', 't1')]);

    expect(files.usage()).toMatchObject({ files: 1, bytes: 5 });
    expect([...files.missing([sha('hello')], 't1'), ...files.missing([sha('hello')], 't2')]).toEqual([]);
  });

  it('that is longer than a session may be is refused before its end', async () => {
    const { files } = await filesWorld({ limits: { sessionBytes: 10 } });
    let sent = 0;
    async function* endless() {
      for (; ; sent += 1_000_000) yield Buffer.alloc(1_000_000);
    }

    await expect(files.put(sha('x'), endless(), 't1')).rejects.toThrow('The file has more than');
    expect(sent).toBeLessThan(100_000_000);
  });
});

describe('a manifest', () => {
  it('is held with its count and its size, counted as often as a file is named', async () => {
    const { files, upload } = await filesWorld();
    await upload('hello');
    const manifest = manifestOf(fileEntry('a', 'hello'), fileEntry('b', 'hello'), { path: 'l', link: 'a' });
    await upload(manifest);

    expect(await files.hold(sha(manifest), 't1')).toMatchObject({ manifest: sha(manifest), count: 3, bytes: 10 });
    expect(await files.contentsOf(sha(manifest))).toEqual([sha('hello')]);
  });

  it('that names a file of another token is refused, as if there were none', async () => {
    const { files, upload } = await filesWorld();
    await upload('secret', 't2');
    const manifest = manifestOf(fileEntry('a', 'secret'));
    await upload(manifest, 't1');
    const nowhere = manifestOf(fileEntry('a', 'nowhere'));
    await upload(nowhere, 't1');

    for (const [named, text] of [
      [manifest, 'secret'],
      [nowhere, 'nowhere'],
    ] as const) {
      await expect(files.hold(sha(named), 't1')).rejects.toMatchObject({
        kind: 'conflict',
        message: `The file ${sha(text)} was not uploaded with this token, or is no longer kept.`,
      });
    }
    await expect(files.hold(sha(manifest), 't2')).rejects.toMatchObject({ kind: 'conflict' });
  });

  it('that gives a file a smaller size than it has is refused: sizes are counted unpacked', async () => {
    const { files, upload } = await filesWorld();
    await upload('hello');
    const manifest = manifestOf({ ...fileEntry('a', 'hello'), bytes: 1 } as never);
    await upload(manifest);

    await expect(files.hold(sha(manifest), 't1')).rejects.toThrow('gives a 1 bytes; it has 5');
  });

  it('over the limits of a session is refused', async () => {
    const { files, upload } = await filesWorld({ limits: { sessionFiles: 1, sessionBytes: 5 } });
    await upload('hello');
    const many = manifestOf(fileEntry('a', 'hello'), { path: 'l', link: 'a' });
    await upload(many);
    const much = manifestOf(fileEntry('a', 'hello!'));
    await upload(much);

    await expect(files.hold(sha(many), 't1')).rejects.toThrow('more than 1 files');
    await expect(files.hold(sha(much), 't1')).rejects.toThrow('more than 5 bytes');
  });
});

describe('room', () => {
  const FULL = { totalBytes: 1_000 };
  const text = (name: string): string => name.repeat(300);

  it('is made by deleting what was not used for the longest time', async () => {
    const { files, upload, clock, contents } = await filesWorld({ limits: FULL });
    for (const name of ['a', 'b', 'c']) {
      await upload(text(name));
      await clock.advance(2 * HOUR_MS);
    }
    files.missing([sha(text('a'))], 't1');

    await upload(text('d'));

    const left = ['a', 'b', 'c', 'd'].filter((name) => files.missing([sha(text(name))], 't1').length === 0);
    expect(left).toEqual(['a', 'c', 'd']);
    expect((await hashesIn(contents)).length).toBe(3);
    expect(files.usage().bytes).toBe(900);
  });

  it('is never made of what an unended session names, nor of its manifest', async () => {
    const { files, upload, clock, name, store } = await filesWorld({ limits: FULL });
    await upload(text('a'));
    const manifest = manifestOf(fileEntry('a', text('a')));
    await upload(manifest);
    await name(sha(manifest));
    await clock.advance(2 * HOUR_MS);
    await upload(text('b'));

    await upload(text('c'));
    expect(files.missing([sha(manifest), sha(text('a')), sha(text('b'))], 't1')).toEqual([sha(text('b'))]);

    await store.commit([drop('sessions', 's1')]);
    await upload(text('d'));
    expect(files.missing([sha(text('a'))], 't1')).toHaveLength(1);
  });

  it('is never made of what a session names that is just being accepted', async () => {
    const { files, upload } = await filesWorld({ limits: { totalBytes: 500 } });
    await upload(text('a'));
    const manifest = manifestOf(fileEntry('a', text('a')));
    await upload(manifest);
    const held = await files.hold(sha(manifest), 't1');

    await expect(upload(text('b'))).rejects.toMatchObject({ kind: 'quota' });
    expect(files.missing([sha(manifest), sha(text('a'))], 't1')).toEqual([]);

    held.release();
    await upload(text('b'));
  });

  it('is taken once by many uploads at the same time', async () => {
    const { files, upload } = await filesWorld({ limits: FULL });
    const names = 'abcdefghij'.split('');

    await Promise.allSettled(names.map((name) => upload(text(name))));

    expect(files.usage().bytes).toBeLessThanOrEqual(1_000);
  });

  it('is chosen by the time of the last use alone', () => {
    const rows = [3, 1, 2].map((usedAt) => ({ id: `f${usedAt}`, bytes: 10, tokens: [], usedAt }));

    expect(leastUsed(rows, (id) => id === 'f1', { bytes: 5, count: 0 }).map(({ id }) => id)).toEqual(['f2']);
    expect(leastUsed(rows, () => false, { bytes: 11, count: 0 }).map(({ id }) => id)).toEqual(['f1', 'f2']);
    expect(leastUsed(rows, () => false, { bytes: -5, count: 1 }).map(({ id }) => id)).toEqual(['f1']);
    expect(leastUsed(rows, () => false, { bytes: 0, count: 0 })).toEqual([]);
  });
});

describe('after a restart', () => {
  it('who has uploaded what is known, and bytes without a row are removed', async () => {
    const first = await filesWorld();
    await first.upload('hello');
    await (await first.contents.receive(piecesOf('orphan'), { hash: sha('orphan'), mostBytes: 100 })).keep();

    const { files } = await filesWorld(first);

    expect(files.missing([sha('hello'), sha('orphan')], 't1')).toEqual([sha('orphan')]);
    expect(files.missing([sha('hello')], 't2')).toHaveLength(1);
    expect(await hashesIn(first.contents)).toEqual([sha('hello')]);
    expect(files.usage()).toMatchObject({ files: 1, bytes: 5 });
  });

  it('a row without bytes, as from a backup, is missing again', async () => {
    const first = await filesWorld();
    await first.upload('hello');
    await first.contents.drop(sha('hello'));

    const { files } = await filesWorld(first);

    expect(files.missing([sha('hello')], 't1')).toEqual([sha('hello')]);
    expect(files.usage()).toMatchObject({ files: 0, bytes: 0 });
  });
});

import { describe, expect, it } from 'vitest';
import { isInsideFolder, type ManifestEntry, manifestLine, openManifest, readManifest } from './file-manifest.ts';

const HASH = 'a'.repeat(64);
const MOST = { count: 10, bytes: 1_000 };

const file = (path: string, bytes = 1): ManifestEntry => ({ path, hash: HASH, bytes, mode: 0o644 });
const folder = (path: string): ManifestEntry => ({ path, folder: true, mode: 0o755 });
const link = (path: string, target: string): ManifestEntry => ({ path, link: target });

function read(...entries: readonly object[]) {
  const reader = openManifest(MOST);
  for (const entry of entries) reader.add(JSON.stringify(entry));
  return reader.end();
}

describe('a manifest', () => {
  it('is read from pieces that are cut anywhere, also within a character', async () => {
    const text = Buffer.from([link('l', 'ä/b'), folder('ä'), file('ä/b', 2)].map(manifestLine).join(''));
    async function* pieces() {
      for (const byte of text) yield Buffer.from([byte]);
    }

    expect(await readManifest(pieces(), MOST)).toEqual({
      entries: [link('l', 'ä/b'), folder('ä'), file('ä/b', 2)],
      count: 2,
      bytes: 2,
    });
  });

  it.each([
    ['an absolute path', file('/etc/passwd')],
    ['a path with ..', file('a/../b')],
    ['a path with .', file('./a')],
    ['an empty name', file('a//b')],
    ['a zero byte', file('a\0b')],
    ['half of a surrogate pair', file('a\ud800')],
    ['a name that no file system takes', file('n'.repeat(256))],
    ['a set-user-id bit', { ...file('a'), mode: 0o4755 }],
    ['a mode that is no number', { ...file('a'), mode: '0644' }],
    ['a hash of another form', { ...file('a'), hash: 'A'.repeat(64) }],
    ['a negative size', file('a', -1)],
    ['no kind at all', { path: 'a', device: true }],
    ['an empty link', link('a', '')],
  ])('with %s is refused', (_, entry) => {
    expect(() => read(entry)).toThrow(expect.objectContaining({ kind: 'invalid' }));
  });

  it('names no path twice, and nothing below a link or a file', () => {
    expect(() => read(file('a'), file('a'))).toThrow('"a" is not in the order');
    expect(() => read(file('b'), file('a'))).toThrow('"a" is not in the order');
    expect(() => read(link('a', '.'), file('a/b'))).toThrow('The folder of "a/b" is not in the manifest.');
    expect(() => read(file('a'), file('a/b'))).toThrow('The folder of "a/b" is not in the manifest.');
  });

  it.each([
    ['an absolute target', [link('a', '/etc/passwd')]],
    ['a target above', [link('a', '../x')]],
    ['a target above from a folder', [folder('d'), link('d/a', '../../x')]],
    ['a target above by way of another link', [folder('d'), link('d/up', '..'), link('x', 'd/up/../y')]],
    ['a link that the target passes through and that leaves', [link('a', 'b/c'), link('b', '..')]],
  ])('with a link out of the folder is refused by its name: %s', (_, entries) => {
    expect(() => read(...entries)).toThrow(/The link "(a|d\/a|x)" leads out of the folder/);
  });

  it('takes links inside the folder, those that lead nowhere and those in a circle too', () => {
    const { count } = read(
      link('a', 'b'),
      link('b', 'a'),
      folder('d'),
      link('d/c', '../a'),
      link('e', 'd/nothing/../c'),
    );

    expect(count).toBe(4);
  });

  it('over the limits is refused: too many files, too many folders, too many bytes', () => {
    const names = 'abcdefghijk'.split('');
    expect(() => read(...names.map((name) => file(name)))).toThrow('more than 10 files');
    expect(() => read(...names.map((name) => folder(name)))).toThrow('more than 10 files');
    expect(() => read(file('a', 600), file('b', 600))).toThrow('more than 1000 bytes');
  });
});

it('a working directory is inside the folder unless it goes above it on its way', () => {
  expect(['.', 'a', 'a/..', './a//b', ''].map(isInsideFolder)).toEqual([true, true, true, true, true]);
  expect(['..', 'a/../..', '../a'].map(isInsideFolder)).toEqual([false, false, false]);
});

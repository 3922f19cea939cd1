import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkSize, findEntries, readEntries, shownBytes } from './synced-folder.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'muster-sync-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

const pathsOf = async (at = folder): Promise<string[]> => {
  const { files, links } = await findEntries(at);
  return [...files, ...links].map(({ path }) => path).sort();
};

describe('what --sync sends', () => {
  it('is all files with their modes, links and empty folders, but never .git', async () => {
    write({ 'a.txt': 'a', 'sub/run.sh': 'run', '.git/config': 'x', 'sub/.git': 'gitdir: elsewhere' });
    mkdirSync(join(folder, 'empty'));
    chmodSync(join(folder, 'sub/run.sh'), 0o4755);
    symlinkSync('sub/run.sh', join(folder, 'link'));

    const { text, contents } = await readEntries(await findEntries(folder));

    expect(
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([
      { path: 'a.txt', hash: hash('sha256', 'a'), bytes: 1, mode: expect.any(Number) },
      { path: 'empty', folder: true, mode: expect.any(Number) },
      { path: 'link', link: 'sub/run.sh' },
      { path: 'sub', folder: true, mode: expect.any(Number) },
      { path: 'sub/run.sh', hash: hash('sha256', 'run'), bytes: 3, mode: 0o755 },
    ]);
    expect(contents).toHaveLength(2);
  });

  it('is the same bytes each time, and names equal files once', async () => {
    write({ b: 'same', a: 'same', 'a-b': 'other', 'a.d/x': 'same' });

    const [one, two] = [await readEntries(await findEntries(folder)), await readEntries(await findEntries(folder))];

    expect(one).toEqual(two);
    expect(one.contents).toHaveLength(2);
  });

  it('leaves out what .gitignore and .musterignore name; the innermost rule decides, and .musterignore after .gitignore', async () => {
    write({
      '.gitignore': '*.log\nbuild/\n/only-here\n*.bin\n',
      '.musterignore': '!model.bin\nnotes/*\n!notes/keep\n',
      'x.log': '',
      'build/out': '',
      'only-here': '',
      'model.bin': '',
      'other.bin': '',
      'notes/a': '',
      'notes/keep': '',
      'sub/only-here': '',
      'sub/y.log': '',
      'sub/kept.log': '',
      'sub/.gitignore': '!kept.log\nlocal\n',
      'sub/local': '',
      local: '',
    });

    expect(await pathsOf()).toEqual(
      [
        '.gitignore',
        '.musterignore',
        'local',
        'model.bin',
        'notes/keep',
        'sub/.gitignore',
        'sub/kept.log',
        'sub/only-here',
      ].sort(),
    );
  });

  it('of a folder inside a repository follows the rules of the folders above it', async () => {
    write({ '.git/HEAD': '', '.gitignore': '*.log\n/sub/skip\n', 'sub/a.log': '', 'sub/skip': '', 'sub/b': '' });

    expect(await pathsOf(join(folder, 'sub'))).toEqual(['b']);
  });

  it('has no link that leaves the folder: it is refused by its name', async () => {
    write({ 'sub/a': '' });
    symlinkSync('../../etc', join(folder, 'sub/out'));

    await expect(findEntries(folder)).rejects.toMatchObject({
      kind: 'invalid',
      message: 'The link sub/out leads out of the folder, to ../../etc.',
    });
    write({ '.musterignore': 'out\n' });
    expect(await pathsOf()).toEqual(['.musterignore', 'sub/a']);
  });

  it('leaves out what is no file, and says so', async () => {
    write({ a: '' });
    execFileSync('mkfifo', [join(folder, 'pipe')]);

    expect(await findEntries(folder)).toMatchObject({ files: [{ path: 'a' }], others: ['pipe'] });
  });

  it('is a folder that is there', async () => {
    write({ file: '' });
    await expect(findEntries(join(folder, 'nowhere'))).rejects.toThrow('There is no folder');
    await expect(findEntries(join(folder, 'file'))).rejects.toThrow('is not a folder');
  });
});

it('too much is refused with its size and the five largest entries of the folder', async () => {
  write({
    'data/a': 'x'.repeat(3_000),
    'data/b': 'x'.repeat(4_000),
    ...Object.fromEntries([1, 2, 3, 4, 5, 6].map((n) => [`f${n}`, 'x'.repeat(n)])),
  });
  const found = await findEntries(folder);

  expect(() => checkSize(found, { bytes: 7_021, files: 8 })).not.toThrow();
  expect(() => checkSize(found, { bytes: 7_020, files: 8 })).toThrow(
    `has 8 files with 7.0 KB; at most 8 files with 7.0 KB can be sent. The largest entries:\n  data/: 7.0 KB in 2 files\n  f6: 6 B in 1 file\n  f5: 5 B in 1 file\n  f4: 4 B in 1 file\n  f3: 3 B in 1 file`,
  );
  expect(() => checkSize(found, { bytes: 1e9, files: 7 })).toThrow('  data/: 7.0 KB in 2 files\n');
});

it('sizes are shown in the unit that fits', () => {
  expect([0, 999, 1_000, 1_500_000, 2e9, 5e15].map(shownBytes)).toEqual([
    '0 B',
    '999 B',
    '1.0 KB',
    '1.5 MB',
    '2.0 GB',
    '5000.0 TB',
  ]);
});

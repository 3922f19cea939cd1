import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { Header } from 'tar';
import { describe, expect, onTestFinished, test } from 'vitest';
import { copyTarget, noCopies, receiveArchive, sendArchive } from './copy-archive.ts';

function temporaryFolder(): string {
  const path = mkdtempSync(join(tmpdir(), 'muster-copy-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

interface Entry {
  readonly path: string;
  readonly type?: 'File' | 'Directory' | 'SymbolicLink' | 'Link' | 'CharacterDevice' | 'FIFO';
  readonly link?: string;
  readonly mode?: number;
  readonly text?: string;
}

/** An archive with exactly these entries, as someone with bad intentions may make it. */
function archiveOf(entries: readonly Entry[], cutTo?: number): Readable {
  const blocks = entries.flatMap(({ path, type = 'File', link = '', mode = 0o644, text = '' }) => {
    const header = new Header({ path, type, linkpath: link, mode, size: Buffer.byteLength(text) });
    const head = Buffer.alloc(512);
    header.encode(head, 0);
    const body = Buffer.alloc(Math.ceil(Buffer.byteLength(text) / 512) * 512);
    body.write(text);
    return [head, body];
  });
  return Readable.from([Buffer.concat([...blocks, Buffer.alloc(1024)]).subarray(0, cutTo)]);
}

/** Unpacks into `target` inside a new folder, beside which nothing may appear. */
async function received(entries: readonly Entry[], prepare: (target: string) => void = () => {}) {
  const around = temporaryFolder();
  const target = join(around, 'target');
  mkdirSync(target);
  prepare(target);
  const before = readdirSync(around);
  const count = noCopies();
  const outcome = await receiveArchive('folder', archiveOf(entries), { target, count }).then(
    () => 'taken',
    () => 'refused',
  );
  expect(readdirSync(around)).toEqual(before);
  return { outcome, target, around, count };
}

describe('an archive of a worker', () => {
  test.each([
    ['a name with ..', [{ path: '../x', text: 'bad' }]],
    ['a name with .. in the middle', [{ path: 'a/../../x', text: 'bad' }]],
    [
      'a file through a link of its own',
      [
        { path: 'sub', type: 'Directory', mode: 0o755 },
        { path: 'through', type: 'SymbolicLink', link: 'sub' },
        { path: 'through/x', text: 'bad' },
      ],
    ],
    ['a hard link to a file outside', [{ path: 'x', type: 'Link', link: '../secret' }]],
  ] as [string, Entry[]][])('with %s is refused', async (_, entries) => {
    const { outcome, target } = await received(entries, (at) => writeFileSync(join(at, '..', 'secret'), 's'));

    expect(outcome).toBe('refused');
    expect(existsSync(join(target, 'x')) || existsSync(join(target, 'sub', 'x'))).toBe(false);
  });

  test('with an absolute name or hard link writes and links nothing outside of the folder', async () => {
    const secret = join(temporaryFolder(), 'secret');
    writeFileSync(secret, 'old');

    for (const entries of [
      [{ path: secret, text: 'bad' }],
      [{ path: 'x', type: 'Link' as const, link: secret }],
      [
        { path: 'x', type: 'Link' as const, link: secret },
        { path: 'x', text: 'bad' },
      ],
    ])
      expect((await received(entries)).outcome).toBe('refused');

    expect(readFileSync(secret, 'utf8')).toBe('old');
    expect(statSync(secret).nlink).toBe(1);
  });

  test('writes through no link that is there before', async () => {
    const elsewhere = temporaryFolder();

    const { outcome } = await received([{ path: 'sub/x', text: 'bad' }], (target) =>
      symlinkSync(elsewhere, join(target, 'sub')),
    );

    expect(outcome).toBe('refused');
    expect(readdirSync(elsewhere)).toEqual([]);
  });

  test('replaces a file, and a link at the name of a file rather than what it leads to', async () => {
    const elsewhere = join(temporaryFolder(), 'elsewhere');
    writeFileSync(elsewhere, 'mine');

    const { target, count } = await received(
      [
        { path: './file', text: 'new' },
        { path: './link', text: 'new' },
      ],
      (at) => {
        writeFileSync(join(at, 'file'), 'a longer old text');
        symlinkSync(elsewhere, join(at, 'link'));
      },
    );

    expect([readFileSync(join(target, 'file'), 'utf8'), readFileSync(join(target, 'link'), 'utf8')]).toEqual([
      'new',
      'new',
    ]);
    expect(lstatSync(join(target, 'link')).isSymbolicLink()).toBe(false);
    expect(readFileSync(elsewhere, 'utf8')).toBe('mine');
    expect(count).toEqual({ files: 2, bytes: 6, leftOut: [] });
  });

  test('leaves out links that lead out of the folder, devices and pipes, and names them', async () => {
    const { outcome, target, count } = await received([
      { path: 'a', type: 'Directory', mode: 0o755 },
      { path: 'a/inside', type: 'SymbolicLink', link: '../b' },
      { path: 'a/top', type: 'SymbolicLink', link: '..' },
      { path: 'a/out', type: 'SymbolicLink', link: '../..' },
      { path: 'absolute', type: 'SymbolicLink', link: '/etc/passwd' },
      { path: 'by-link', type: 'SymbolicLink', link: 'a/top/..' },
      { path: 'device', type: 'CharacterDevice' },
      { path: 'pipe', type: 'FIFO' },
      { path: 'b', text: 'kept' },
    ]);

    expect(outcome).toBe('taken');
    expect(count.leftOut).toEqual(['a/out', 'absolute', 'by-link', 'device', 'pipe']);
    expect(readdirSync(target).toSorted()).toEqual(['a', 'b']);
    expect(readFileSync(join(target, 'a/inside'), 'utf8')).toBe('kept');
  });

  test('keeps permissions, without setuid, setgid and sticky', async () => {
    const { target } = await received([
      { path: 'run', mode: 0o6755, text: 'x' },
      { path: 'shared', type: 'Directory', mode: 0o3755 },
    ]);

    expect(lstatSync(join(target, 'run')).mode & 0o7777).toBe(0o755);
    expect(lstatSync(join(target, 'shared')).mode & 0o7777).toBe(0o755);
  });
});

describe('a single file', () => {
  test('gets its new name only when it is whole', async () => {
    const folder = temporaryFolder();
    const target = join(folder, 'model.pt');
    const archive = (cutTo?: number): Readable => archiveOf([{ path: './old-name', text: 'w'.repeat(2_000) }], cutTo);

    await expect(receiveArchive('file', archive(1_500), { target, count: noCopies() })).rejects.toThrow();
    const afterCut = readdirSync(folder);
    await receiveArchive('file', archive(), { target, count: noCopies() });

    expect(afterCut).toEqual([]);
    expect(readdirSync(folder)).toEqual(['model.pt']);
    expect(readFileSync(target, 'utf8')).toHaveLength(2_000);
  });

  test('replaces a link at its name, not what the link leads to', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'mine'), 'mine');
    symlinkSync('mine', join(folder, 'target'));

    await receiveArchive('file', archiveOf([{ path: 'x', text: 'new' }]), {
      target: join(folder, 'target'),
      count: noCopies(),
    });

    expect(readFileSync(join(folder, 'mine'), 'utf8')).toBe('mine');
    expect(readFileSync(join(folder, 'target'), 'utf8')).toBe('new');
  });

  test('that is none is refused: a folder, a link, a device, or nothing', async () => {
    const folder = temporaryFolder();
    const offers: Entry[][] = [
      [],
      [{ path: 'x', type: 'Directory', mode: 0o755 }],
      [
        { path: 'a', type: 'SymbolicLink', link: 'b' },
        { path: 'b', text: 'x' },
      ],
      [{ path: 'x', type: 'CharacterDevice' }],
    ];

    for (const entries of offers)
      await expect(
        receiveArchive('file', archiveOf(entries), { target: join(folder, 't'), count: noCopies() }),
      ).rejects.toMatchObject({ kind: 'unsupported' });

    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('where a copy goes', () => {
  test('is inside a folder that is there, and otherwise the name that was given', async () => {
    const folder = temporaryFolder();

    expect(await copyTarget('out/model.pt', folder)).toBe(join(folder, 'model.pt'));
    expect(await copyTarget('out/', folder)).toBe(join(folder, 'out'));
    expect(await copyTarget('out/.', folder)).toBe(folder);
    expect(await copyTarget('.', folder)).toBe(folder);
    expect(await copyTarget('model.pt', join(folder, 'new'))).toBe(join(folder, 'new'));
    await expect(copyTarget('model.pt', join(folder, 'new/'))).rejects.toMatchObject({ kind: 'missing' });
  });
});

describe('a copy to a worker', () => {
  /** What arrives when the archive is unpacked there. */
  async function sent(source: string, name: string | undefined) {
    const target = temporaryFolder();
    const wire = new PassThrough();
    const count = noCopies();
    const arrived = receiveArchive('folder', wire, { target, count: noCopies() });
    await Promise.all([sendArchive(source, { name, to: wire, count }), arrived]);
    return { target, count };
  }

  function aFolder(): string {
    const folder = join(temporaryFolder(), 'code');
    mkdirSync(join(folder, 'sub'), { recursive: true });
    writeFileSync(join(folder, 'sub', '-x'), 'dash');
    writeFileSync(join(folder, '@y'), 'at');
    writeFileSync(join(folder, 'big'), Buffer.alloc(3 * 1024 * 1024, 'big '));
    linkSync(join(folder, 'big'), join(folder, 'same'));
    symlinkSync('sub/-x', join(folder, 'link'));
    writeFileSync(join(folder, 'tool'), '#!/bin/sh');
    chmodSync(join(folder, 'tool'), 0o4755);
    return folder;
  }

  test('of a folder brings files of any size and name, modes, links and hard links', async () => {
    const folder = aFolder();

    const { target, count } = await sent(folder, 'renamed');

    const at = (name: string): string => join(target, 'renamed', name);
    expect(readdirSync(target)).toEqual(['renamed']);
    expect(readdirSync(at('.')).toSorted()).toEqual(['@y', 'big', 'link', 'same', 'sub', 'tool']);
    expect(readFileSync(at('big')).equals(readFileSync(join(folder, 'big')))).toBe(true);
    expect(statSync(at('big')).ino).toBe(statSync(at('same')).ino);
    expect(readlinkSync(at('link'))).toBe('sub/-x');
    expect(readFileSync(at('link'), 'utf8')).toBe('dash');
    expect(statSync(at('tool')).mode & 0o7777).toBe(0o755);
    expect(count).toMatchObject({ files: 5, leftOut: [] });
  });

  test('without a name brings what is inside of a folder', async () => {
    const { target } = await sent(aFolder(), undefined);

    expect(readdirSync(target).toSorted()).toEqual(['@y', 'big', 'link', 'same', 'sub', 'tool']);
  });

  test('of a file brings it under the new name, also by a link', async () => {
    const folder = aFolder();

    for (const source of ['sub/-x', 'link', '@y']) {
      const { target, count } = await sent(join(folder, source), 'new name');

      expect(readdirSync(target), source).toEqual(['new name']);
      expect(lstatSync(join(target, 'new name')).isFile()).toBe(true);
      expect(readFileSync(join(target, 'new name'), 'utf8')).toBe(basename(source) === '@y' ? 'at' : 'dash');
      expect(count.files).toBe(1);
    }
  });

  test('that a file of this machine breaks off fails', async () => {
    const wire = new PassThrough();
    wire.resume().on('error', () => {});

    await expect(
      sendArchive(join(temporaryFolder(), 'none'), { name: 'x', to: wire, count: noCopies() }),
    ).rejects.toThrow(/ENOENT/);
    expect(wire.destroyed).toBe(true);
  });
});

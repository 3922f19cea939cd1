import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { Header } from 'tar';
import { describe, expect, onTestFinished, test } from 'vitest';
import { bootId } from '#host/processes.ts';
import { findProgram } from '#host/programs.ts';
import { openArchive } from './archive.ts';
import type { SessionPlace } from './session-place.ts';

function aFolder(): string {
  const path = mkdtempSync(join(tmpdir(), 'muster-archive-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

const placeAt = (cwd: string, account?: SessionPlace['account']): SessionPlace => ({
  session: 's1',
  cwd,
  account,
  pids: () => [],
});

/** What a reader gets: the first line, and the names in the archive. */
async function read(place: SessionPlace, path: string) {
  const far = openArchive('read', path, { place, find: findProgram });
  const [bytes] = await Promise.all([buffer(far.readable), far.finished()]);
  const end = bytes.indexOf('\n');
  const names: string[] = [];
  for (let at = end + 1; at + 512 <= bytes.length; ) {
    const header = new Header(bytes, at);
    if (header.nullBlock) break;
    names.push(String(header.path));
    at += 512 + Math.ceil((header.size ?? 0) / 512) * 512;
  }
  return { said: bytes.subarray(0, end).toString().split(' ')[0], names, bytes };
}

function entry(path: string, text: string, mode = 0o644): Buffer {
  const head = Buffer.alloc(512);
  new Header({ path, type: 'File', mode, size: text.length }).encode(head, 0);
  return Buffer.concat([head, Buffer.from(text.padEnd(Math.ceil(text.length / 512) * 512, '\0')), Buffer.alloc(1024)]);
}

async function write(place: SessionPlace, path: string, archive: Buffer): Promise<string | undefined> {
  const far = openArchive('write', path, { place, find: findProgram });
  far.writable?.end(archive);
  const [bytes] = await Promise.all([buffer(far.readable), far.finished()]);
  return bytes.toString().split(/[ \n]/)[0];
}

describe('an archive of files of a session', () => {
  test('begins with the machine and with what is read, or with the folder that is written to and all above it', async () => {
    const cwd = realpathSync(aFolder());
    mkdirSync(join(cwd, 'out'));
    writeFileSync(join(cwd, 'out/model'), 'model');
    const idOf = (path: string): string => `${statSync(path).dev}:${statSync(path).ino}`;
    const above = (path: string): string[] => [idOf(path), ...(path === '/' ? [] : above(dirname(path)))];
    const line = ({ bytes }: { bytes: Buffer }): string => bytes.toString('latin1').split('\n')[0] ?? '';

    expect(line(await read(placeAt(cwd), 'out'))).toBe(`folder ${bootId()} ${idOf(join(cwd, 'out'))}`);
    expect(line(await read(placeAt(cwd), 'out/model'))).toBe(`file ${bootId()} ${idOf(join(cwd, 'out/model'))}`);
    for (const [path, kind] of [
      ['out', 'folder'],
      ['out/new', 'file'],
    ] as const) {
      const far = openArchive('write', path, { place: placeAt(cwd), find: findProgram });
      far.writable?.end(Buffer.alloc(1024));
      expect(String(await buffer(far.readable))).toBe(`${kind} ${bootId()} ${above(join(cwd, 'out')).join(' ')}\n`);
    }
  });

  test('has the file or what is in the folder at a path below its directory, and follows a link that is named', async () => {
    const cwd = aFolder();
    mkdirSync(join(cwd, 'out'));
    writeFileSync(join(cwd, 'out/model'), 'model');
    symlinkSync('out/model', join(cwd, 'link'));
    symlinkSync('out', join(cwd, 'folder'));

    expect(await read(placeAt(cwd), 'out/model')).toMatchObject({ said: 'file', names: ['./model'] });
    expect(await read(placeAt(cwd), 'link')).toMatchObject({ said: 'file', names: ['./model'] });
    for (const path of ['out', 'out/', 'folder', join(cwd, 'out')])
      expect(await read(placeAt(cwd), path), path).toMatchObject({ said: 'folder', names: ['./', './model'] });
  });

  test('takes a name for a name, whatever is in it', async () => {
    const names = [
      '-rf',
      '--help',
      '$(touch bad)',
      '`touch bad`',
      'a\'b"c',
      'two words',
      'line\nbreak',
      'end\n',
      '*',
      '\\n',
    ];
    for (const name of names) {
      const cwd = aFolder();
      writeFileSync(join(cwd, name), 'x');

      expect(await read(placeAt(cwd), name), name).toMatchObject({ said: 'file', names: [`./${name}`] });
      expect(await write(placeAt(cwd), `new${name}`, entry(`new${name}`, 'y')), name).toBe('file');
      expect(readdirSync(cwd).toSorted(), name).toEqual([name, `new${name}`].toSorted());
    }
  });

  test('is refused with the path where nothing is there, or no folder to write to', async () => {
    const cwd = aFolder();
    const place = placeAt(cwd);

    await expect(read(place, 'none')).rejects.toMatchObject({
      kind: 'missing',
      message: 'The worker could not copy: ./none: no such file or folder.',
      remedy: expect.stringContaining('below the directory of the session'),
    });
    await expect(write(place, 'none/x', entry('x', 'x'))).rejects.toMatchObject({
      kind: 'missing',
      message: expect.stringContaining('./none: no such folder'),
    });
    await expect(write(place, 'none/', entry('x', 'x'))).rejects.toMatchObject({ kind: 'missing' });
    await expect(read(placeAt(join(cwd, 'gone')), '.')).rejects.toMatchObject({ kind: 'missing' });
    expect(() => openArchive('read', 'a\0b', { place, find: findProgram })).toThrow('zero byte');
    expect(readdirSync(cwd)).toEqual([]);
  });

  test('is refused where the worker has no tar', () => {
    expect(() => openArchive('read', '.', { place: placeAt('/'), find: () => undefined })).toThrow(
      'The program tar is not installed on the worker.',
    );
  });

  test('that is not whole, or is none, ends in a failure', async () => {
    const cwd = aFolder();

    await expect(write(placeAt(cwd), '.', entry('x', 'y'.repeat(5_000)).subarray(0, 2_000))).rejects.toMatchObject({
      kind: 'invalid',
    });
    await expect(write(placeAt(cwd), '.', Buffer.from('no archive at all'.repeat(100)))).rejects.toMatchObject({
      kind: 'invalid',
    });
  });

  test('is not written beside the folder, whatever its names say', async () => {
    const around = aFolder();
    const cwd = join(around, 'cwd');
    mkdirSync(cwd);

    await write(placeAt(cwd), '.', entry('../beside', 'x')).catch(() => {});

    expect(readdirSync(around)).toEqual(['cwd']);
  });

  test('ends with the tunnel: the program that reads is killed', async () => {
    const cwd = aFolder();
    writeFileSync(join(cwd, 'big'), Buffer.alloc(1_000_000));
    const far = openArchive('read', 'big', { place: placeAt(cwd), find: findProgram });

    far.destroy();

    await expect(far.finished()).rejects.toMatchObject({
      message: 'The worker could not copy: tar was ended by SIGKILL.',
    });
  });
});

const isRoot = process.getuid?.() === 0;

describe.skipIf(!isRoot)('an archive of a session under another account (needs root)', () => {
  test('is read and written by that account: what it may not read is refused, what it writes is its own', async () => {
    const cwd = aFolder();
    chmodSync(cwd, 0o755);
    writeFileSync(join(cwd, 'secret'), 'of root', { mode: 0o600 });
    mkdirSync(join(cwd, 'own'));
    chownSync(join(cwd, 'own'), 4242, 4243);
    const place = placeAt(cwd, { uid: 4242, gid: 4243, groups: [], home: '/' });

    await expect(read(place, 'secret')).rejects.toMatchObject({
      message: expect.stringContaining('Permission denied'),
    });
    await expect(write(place, 'new', entry('new', 'x'))).rejects.toMatchObject({ kind: 'invalid' });
    await write(place, 'own/new', entry('new', 'text', 0o666));

    const { uid, gid, mode } = statSync(join(cwd, 'own/new'));
    expect([uid, gid, mode & 0o7777, readFileSync(join(cwd, 'own/new'), 'utf8')]).toEqual([4242, 4243, 0o666, 'text']);
  });

  test('does not start in a folder that this account may not enter', async () => {
    const cwd = aFolder();
    writeFileSync(join(cwd, 'x'), 'x');

    await expect(read(placeAt(cwd, { uid: 4242, gid: 4243, groups: [], home: '/' }), 'x')).rejects.toMatchObject({
      kind: 'missing',
      message: expect.stringContaining('cannot be entered'),
    });
  });
});

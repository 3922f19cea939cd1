import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Fault } from '#core/fault.ts';
import { checkDownload, checkUpload, readWorkerEnd, type WorkerEnd } from './copy-ends.ts';

function aFolder(): string {
  const path = mkdtempSync(join(tmpdir(), 'muster-ends-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  mkdirSync(join(path, 'out/deep'), { recursive: true });
  writeFileSync(join(path, 'out/model'), 'm');
  return path;
}

const idOf = (path: string): string => {
  const { dev, ino } = statSync(path, { bigint: true });
  return `${dev}:${ino}`;
};
const idsAbove = (path: string): string[] => [idOf(path), ...(dirname(path) === path ? [] : idsAbove(dirname(path)))];
const at = (path: string, kind: WorkerEnd['kind'] = 'folder'): WorkerEnd => ({ kind, boot: 'b1', ids: idsAbove(path) });

const outcome = (checked: Promise<void>): Promise<string> =>
  checked.then(
    () => 'copied',
    (thrown) => Fault.from(thrown).kind,
  );

describe('what a worker says first', () => {
  const said = (...parts: string[]) => {
    const stream = new PassThrough();
    for (const part of parts) stream.write(part);
    stream.end();
    return stream;
  };

  test('is one line with what is there; what follows is the archive', async () => {
    const stream = said('fol', 'der b1 1:2 3:4', '\narch', 'ive');

    expect(await readWorkerEnd(stream)).toEqual({ kind: 'folder', boot: 'b1', ids: ['1:2', '3:4'] });
    expect(await text(stream)).toBe('archive');
    expect(await readWorkerEnd(said('file\n'))).toEqual({ kind: 'file', boot: '', ids: [] });
  });

  test('is refused where it is no such line, none at all, or one without an end', async () => {
    for (const line of ['', 'x', 'files\n', 'Folder\n', '\n', 'file'])
      await expect(readWorkerEnd(said(line)), line).rejects.toBeInstanceOf(Fault);
    const endless = new PassThrough();
    endless.write(Buffer.alloc(20_000, 'folder '));
    await expect(readWorkerEnd(endless)).rejects.toMatchObject({ kind: 'unsupported' });
  });

  test('is the failure of the worker where it has one', async () => {
    const stream = new PassThrough().on('error', () => {});
    const reading = readWorkerEnd(stream);
    stream.destroy(new Fault('missing', 'No such file.'));

    await expect(reading).rejects.toMatchObject({ message: 'No such file.' });
  });
});

describe('a copy on one machine', () => {
  test('from a worker is refused onto itself and into itself, and made anywhere else', async () => {
    const here = aFolder();
    const from = (source: WorkerEnd, target: string) => outcome(checkDownload(source, join(here, target), 'b1'));
    const out = at(join(here, 'out'));
    const model = at(join(here, 'out/model'), 'file');

    expect(await from(out, 'out')).toBe('conflict');
    expect(await from(out, 'out/deep')).toBe('conflict');
    expect(await from(out, 'out/deep/none/none')).toBe('conflict');
    expect(await from(model, 'out/model')).toBe('conflict');
    expect(await from(out, 'results')).toBe('copied');
    expect(await from(out, '.')).toBe('copied');
    expect(await from(model, 'out/other')).toBe('copied');
  });

  test('to a worker is refused onto itself and into itself, and made anywhere else', async () => {
    const here = aFolder();
    const to = (folder: string, source: string, name?: string, kind: WorkerEnd['kind'] = 'folder') =>
      outcome(checkUpload(at(join(here, folder), kind), { source: join(here, source), name }, 'b1'));

    expect(await to('.', 'out', 'out')).toBe('conflict');
    expect(await to('out', 'out/.', undefined)).toBe('conflict');
    expect(await to('out/deep', 'out', 'out')).toBe('conflict');
    expect(await to('out', 'out/model', 'model')).toBe('conflict');
    expect(await to('out', 'out/model', 'model', 'file')).toBe('conflict');
    expect(await to('.', 'out', 'copy', 'file')).toBe('copied');
    expect(await to('out/deep', 'out/model', 'model')).toBe('copied');
    expect(await to('.', 'out/.', undefined)).toBe('copied');
  });

  test('is not mistaken for one: another machine may have the same numbers, or tell none', async () => {
    const here = aFolder();
    const out = at(join(here, 'out'));
    const options = { source: join(here, 'out'), name: 'out' };

    expect(await outcome(checkDownload(out, join(here, 'out'), 'b2'))).toBe('copied');
    expect(await outcome(checkDownload({ ...out, boot: '' }, join(here, 'out')))).toBe('copied');
    expect(await outcome(checkDownload({ ...out, ids: [] }, join(here, 'out'), 'b1'))).toBe('copied');
    expect(await outcome(checkUpload(at(here), options, 'b2'))).toBe('copied');
    expect(await outcome(checkUpload({ ...at(here), ids: [] }, options, 'b1'))).toBe('copied');
  });
});

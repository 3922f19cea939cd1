import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemFiles } from './watched-files.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'muster-watch-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Resolves when the watch of these files tells of something and they indeed differ. */
function changeOf(paths: readonly string[], act: () => void): Promise<void> {
  const before = systemFiles.signature(paths);
  return new Promise((resolve) => {
    const stop = systemFiles.watch(paths, () => {
      if (systemFiles.signature(paths) === before) return;
      stop();
      resolve();
    });
    act();
  });
}

it('notices a file that is written in place', async () => {
  const file = join(folder, 'muster.yaml');
  writeFileSync(file, 'a: 1');

  await changeOf([file], () => writeFileSync(file, 'a: 22'));
});

it('notices a new file that is renamed over the old, again and again', async () => {
  const file = join(folder, 'muster.yaml');
  writeFileSync(file, 'a: 1');

  for (const text of ['a: 2', 'a: 3']) {
    await changeOf([file], () => {
      writeFileSync(join(folder, 'new'), text);
      renameSync(join(folder, 'new'), file);
    });
  }
});

it('notices the link swap by which Kubernetes updates a mounted ConfigMap', async () => {
  const file = join(folder, 'config.yaml');
  for (const version of ['..v1', '..v2']) {
    mkdirSync(join(folder, version));
    writeFileSync(join(folder, version, 'config.yaml'), `a: ${version}`);
  }
  symlinkSync('..v1', join(folder, '..data'));
  symlinkSync(join('..data', 'config.yaml'), file);

  await changeOf([file], () => {
    symlinkSync('..v2', join(folder, '..data_tmp'));
    renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
  });
});

it('notices a file that appears', async () => {
  const file = join(folder, 'later.yaml');

  await changeOf([file], () => writeFileSync(file, 'a: 1'));
});

it('watches nothing where the folder is missing, and says so by its signature alone', () => {
  const file = join(folder, 'none', 'muster.yaml');

  const stop = systemFiles.watch([file], () => {});

  expect(systemFiles.signature([file])).toBe('absent');
  stop();
});

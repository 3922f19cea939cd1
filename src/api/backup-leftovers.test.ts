import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { noteBackup, removeBackupLeftovers } from './backup-leftovers.ts';

const folder = mkdtempSync(join(tmpdir(), 'muster-leftovers-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('what a killed server left of its backups is removed at the next start, and nothing else', async () => {
  const dataDir = join(folder, 'data');
  mkdirSync(join(dataDir, 'backup-download'), { recursive: true });
  writeFileSync(join(dataDir, 'backup-download', 'muster.db'), 'secrets');
  writeFileSync(join(dataDir, 'muster.db'), 'ours');
  const beside = join(folder, 'copy.db.abc.part');
  await noteBackup(dataDir, beside);
  for (const file of [beside, `${beside}.partial`, join(folder, 'other.db')]) writeFileSync(file, 'secrets');

  expect(removeBackupLeftovers(dataDir)).toBe(2);
  expect(readdirSync(dataDir)).toEqual(['muster.db']);
  expect(readdirSync(folder).toSorted()).toEqual(['data', 'other.db']);
});

it('a backup that is done leaves no note', async () => {
  const dataDir = mkdtempSync(join(folder, 'data-'));
  const note = await noteBackup(dataDir, join(folder, 'x.part'));
  await note.drop();

  expect(readdirSync(dataDir)).toEqual([]);
  expect(existsSync(dataDir)).toBe(true);
});

import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FAULTS } from '#core/fault.ts';
import { openScene, pieces, raw, refusal } from './testing.ts';

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'muster-backup-'));
  file = join(folder, 'copy.db');
});
afterEach(() => rmSync(folder, { recursive: true }));

test('what the server sends is in the file, which only its owner may read', async () => {
  const scene = openScene(() => raw(pieces(['SQLite ', 'format 3'])));

  const code = await scene.muster('backup', file);

  expect(code).toBe(0);
  expect(scene.asked.map(({ method, path }) => `${method} ${path}`)).toEqual(['GET /backup']);
  expect(readFileSync(file, 'utf8')).toBe('SQLite format 3');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(scene.output()).toContain('15 bytes');
});

test('a file that is there stays as it is, and nothing is asked', async () => {
  const scene = openScene(() => raw(pieces(['new'])));
  writeFileSync(file, 'old');

  const code = await scene.muster('backup', file);

  expect(code).toBe(FAULTS.conflict.exit);
  expect(scene.asked).toEqual([]);
  expect(readFileSync(file, 'utf8')).toBe('old');
});

test.each([
  ['breaks off', () => raw(pieces(['half'], { breaks: true })), FAULTS.unavailable.exit],
  ['is refused', () => refusal(403, { kind: 'denied', detail: 'This needs the role admin.' }), FAULTS.denied.exit],
])('one that %s leaves no file', async (_, answer, exit) => {
  const scene = openScene(answer);

  const code = await scene.muster('backup', file);

  expect(code).toBe(exit);
  expect(existsSync(file)).toBe(false);
});

test('a place that cannot be written to is named', async () => {
  const scene = openScene(() => raw('x'));

  const code = await scene.muster('backup', join(folder, 'no', 'such', 'folder'));

  expect(code).toBe(FAULTS.invalid.exit);
  expect(scene.errors()).toContain('ENOENT');
});

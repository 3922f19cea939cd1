import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { dataDirFor, rememberDataDir } from './user-folder.ts';

function newPlace() {
  const home = mkdtempSync(join(tmpdir(), 'muster-user-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  return { home, configHome: undefined, dataDir: undefined };
}

test('commands find the server that their user started last, in a file that others cannot read', () => {
  const place = newPlace();
  expect(dataDirFor(place)).toBe('./data');

  rememberDataDir(place, '/srv/first/data');
  rememberDataDir(place, '/srv/second/data');

  expect(dataDirFor(place)).toBe('/srv/second/data');
  expect(statSync(join(place.home, '.config/muster/data-dir')).mode & 0o777).toBe(0o600);
});

test('a data directory that is named goes first', () => {
  const place = newPlace();
  rememberDataDir(place, '/srv/data');

  expect(dataDirFor({ ...place, dataDir: '/var/lib/muster' })).toBe('/var/lib/muster');
});

test('a server starts also where its user has no folder', () => {
  const place = newPlace();
  writeFileSync(join(place.home, '.config'), 'a file');

  rememberDataDir(place, '/srv/data');

  expect(dataDirFor(place)).toBe('./data');
  expect(readFileSync(join(place.home, '.config'), 'utf8')).toBe('a file');
});

import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { archiveName, openArchiveCache, type Packed } from './archive-cache.ts';

const PLATFORM = 'linux-x64';
let folder: string;
let packed: Packed;
const at = (name: string): string => join(folder, name);
const ingredients = () => [at('agent.mjs'), at('node')];
const found = () => openArchiveCache(folder).current(PLATFORM, ingredients());

/** An archive as it is after packing. */
function pack(sha256: string, platform = PLATFORM): Packed {
  const name = archiveName(platform, sha256);
  writeFileSync(at(name), sha256);
  openArchiveCache(folder).keep(platform, { name, sha256, bytes: 3 }, ingredients());
  return { name, sha256, bytes: 3 };
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'muster-packed-'));
  for (const name of ['agent.mjs', 'node']) writeFileSync(at(name), name);
  packed = pack('a'.repeat(64));
});
afterEach(() => rmSync(folder, { recursive: true }));

it('finds an archive that would come out the same', () => {
  expect(found()).toEqual(packed);
  expect(openArchiveCache(folder).current('linux-arm64', ingredients())).toBeUndefined();
});

it.each(['archive', 'agent.mjs', 'node'])('packs anew where %s has changed or is gone', (what) => {
  const path = at(what === 'archive' ? packed.name : what);
  writeFileSync(path, 'another content');
  expect(found()).toBeUndefined();

  rmSync(path);
  expect(found()).toBeUndefined();
});

it('packs anew where another runtime goes along, or the note is torn', () => {
  expect(openArchiveCache(folder).current(PLATFORM, [at('agent.mjs'), at('other')])).toBeUndefined();
  writeFileSync(at(`${packed.name}.json`), '{');
  expect(found()).toBeUndefined();
  expect(openArchiveCache(folder).find(packed.name)).toBeUndefined();
});

it('still has what machines were promised before an upgrade, and nothing but archives', () => {
  writeFileSync(at('agent.mjs'), 'upgraded');
  const next = pack('b'.repeat(64));

  expect(found()).toEqual(next);
  expect(openArchiveCache(folder).find(packed.name)).toEqual(packed);
  for (const name of ['agent.mjs', `${packed.name}.json`, '../secret', `../${folder}/${packed.name}`])
    expect(openArchiveCache(folder).find(name)).toBeUndefined();
});

it('keeps the newest few of each platform', () => {
  const other = pack('e'.repeat(64), 'linux-arm64');
  const names = ['b', 'c', 'd'].map((digit) => pack(digit.repeat(64)).name);

  const left = readdirSync(folder).filter((name) => name.endsWith('.tar.gz'));

  expect(left.toSorted()).toEqual([other.name, ...names].toSorted());
});

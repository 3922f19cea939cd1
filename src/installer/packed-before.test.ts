import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { findPacked, notePacked } from './packed-before.ts';

let folder: string;
const at = (name: string): string => join(folder, name);
const PACKED = { sha256: 'ab', bytes: 3 };

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'muster-packed-'));
  for (const name of ['archive', 'agent.mjs', 'node']) writeFileSync(at(name), name);
  notePacked(at('archive'), PACKED, [at('agent.mjs'), at('node')]);
});
afterEach(() => rmSync(folder, { recursive: true }));

const found = () => findPacked(at('archive'), [at('agent.mjs'), at('node')]);

it('finds an archive that would come out the same', () => {
  expect(found()).toEqual(PACKED);
});

it.each(['archive', 'agent.mjs', 'node'])('packs anew where %s has changed or is gone', (name) => {
  writeFileSync(at(name), 'another content');
  expect(found()).toBeUndefined();

  rmSync(at(name));
  expect(found()).toBeUndefined();
});

it('packs anew where another runtime goes along, or no note was left', () => {
  expect(findPacked(at('archive'), [at('agent.mjs'), at('other')])).toBeUndefined();
  expect(findPacked(at('node'), [])).toBeUndefined();
});

import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Bundle, bundleAgent } from './bundle.ts';

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'muster-bundle-'));
  mkdirSync(join(root, 'src'));
  writeFileSync(join(root, 'src/entry.ts'), "import { word } from './word.ts';\nconsole.log(word as string);\n");
  writeFileSync(join(root, 'src/word.ts'), "export const word: string = 'first';\n");
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

const bundle = (version = '1'): Promise<Bundle> => bundleAgent(join(root, 'src/entry.ts'), join(root, 'out'), version);

const writtenAt = ({ path }: Bundle): number => statSync(path).ctimeMs;

test('what was bundled before is used again while nothing has changed', async () => {
  const first = await bundle();
  const firstWrittenAt = writtenAt(first);

  const second = await bundle();

  expect(second).toEqual(first);
  expect(writtenAt(second)).toBe(firstWrittenAt);
});

test('a change in any file that went in makes another bundle, and the old one stays', async () => {
  const first = await bundle();
  writeFileSync(join(root, 'src/word.ts'), "export const word: string = 'other';\n");

  const second = await bundle();

  expect(readFileSync(second.path, 'utf8')).toContain('other');
  expect(readFileSync(first.path, 'utf8')).toContain('first');
});

test('a program in another folder is bundled anew, though the first one is still there and has the same version', async () => {
  await bundle();
  mkdirSync(join(root, 'new'));
  writeFileSync(join(root, 'new/entry.ts'), "console.log('newer');\n");

  const second = await bundleAgent(join(root, 'new/entry.ts'), join(root, 'out'), '1');

  expect(readFileSync(second.path, 'utf8')).toContain('newer');
});

test('another version is another bundle', async () => {
  const first = await bundle('1');
  writeFileSync(
    join(root, 'src/word.ts'),
    'declare const MUSTER_VERSION: string;\nexport const word = MUSTER_VERSION;\n',
  );
  const second = await bundle('1');

  const third = await bundle('2');

  expect(new Set([first.sha256, second.sha256, third.sha256]).size).toBe(3);
});

test('a bundle that was damaged or removed is made again', async () => {
  const first = await bundle();
  appendFileSync(first.path, 'broken');
  const whole = await bundle();
  rmSync(whole.path);

  const again = await bundle();

  expect(again).toEqual(first);
  expect(readFileSync(again.path, 'utf8')).not.toContain('broken');
});

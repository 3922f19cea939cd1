import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openScratchCheckout } from '../scratch-checkout.ts';

test('a scratch checkout is this tree, says what was changed and added there, and leaves this tree alone', async (context) => {
  const checkout = openScratchCheckout();
  context.onTestFinished(checkout.remove);
  const before = readFileSync('README.md', 'utf8');

  checkout.copyFolder('src/providers/file', 'src/providers/other', (text) => text.replaceAll("'file'", "'other'"));
  writeFileSync(join(checkout.root, 'README.md'), 'changed');
  const listed = await checkout.run('node', ['-p', 'process.cwd()']);

  expect(checkout.changed()).toEqual(['README.md']);
  expect(checkout.added()).toContain('src/providers/other/index.ts');
  expect(() => checkout.add('README.md', '')).toThrow('README.md is already in the checkout.');
  expect(listed).toMatchObject({ code: 0, out: `${checkout.root}\n` });
  expect(readFileSync('README.md', 'utf8')).toBe(before);
  checkout.remove();
  expect(existsSync(checkout.root)).toBe(false);
});

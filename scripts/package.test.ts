import { expect, test } from 'vitest';
import { folderOf } from './package.ts';

test('packages go to the one folder that is named, and to dist where none is', () => {
  expect(folderOf(['/srv/packages'])).toBe('/srv/packages');
  expect(folderOf([])).toMatch(/\/dist$/);
});

test.each([['--help'], ['-h'], ['a', 'b']])(
  'an option is no folder, and two folders are one too many: %s %s',
  (...words) => {
    expect(() => folderOf(words.filter(Boolean))).toThrow(/takes one folder and no options/);
  },
);

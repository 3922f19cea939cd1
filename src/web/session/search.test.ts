import { expect, it } from 'vitest';
import { openSearch, stretchesOf } from './search.ts';

const block = (id: number, ...texts: readonly string[]) => ({
  id,
  runs: texts.map((text) => ({ stream: 'stdout' as const, attempt: 1, text })),
});

it('a text is cut at each hit, whatever its case, and at nothing that only a pattern would find', () => {
  const hits = (text: string, words: string) =>
    stretchesOf(text, words)
      .filter(({ isHit }) => isHit)
      .map(({ text: hit }) => hit);

  expect(hits('Error: an ERROR.', 'error')).toEqual(['Error', 'ERROR']);
  expect(hits('a.b [x] a+b', '[x]')).toEqual(['[x]']);
  expect(hits('axb', 'a.b')).toEqual([]);
  expect(
    stretchesOf('one two', 'TWO')
      .map(({ text }) => text)
      .join(''),
  ).toBe('one two');
  expect(stretchesOf('x', '')).toEqual([{ text: 'x', isHit: false }]);
});

it('the hits of all blocks are counted, and each number leads to one of them, round and round', () => {
  const hits = openSearch('a')([block(7, 'a', 'b a'), block(8, 'b'), block(9, 'a')]);

  expect(hits.count).toBe(3);
  expect([0, 1, 2, 3, -1].map(hits.placeOf)).toEqual([
    { block: 7, hit: 0 },
    { block: 7, hit: 1 },
    { block: 9, hit: 0 },
    { block: 7, hit: 0 },
    { block: 9, hit: 0 },
  ]);
  expect(openSearch('')([block(1, 'a')])).toMatchObject({ count: 0 });
  expect(openSearch('z')([block(1, 'a')]).placeOf(0)).toBeUndefined();
});

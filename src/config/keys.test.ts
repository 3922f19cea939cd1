import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isKey, joinPath, toCamel, toSnake } from './keys.ts';

describe('keys', () => {
  it('turns camelCase into snake_case and back', () => {
    const word = fc.stringMatching(/^[a-z][a-z0-9]{0,6}$/);

    fc.assert(
      fc.property(
        fc.array(
          word.filter((w) => !/^\d/.test(w)),
          { minLength: 1, maxLength: 4 },
        ),
        (words) => {
          const snake = words.join('_');

          expect(toSnake(toCamel(snake))).toBe(snake);
          expect(isKey(snake, toCamel(snake))).toBe(true);
          expect(isKey(toCamel(snake), snake)).toBe(true);
        },
      ),
    );
  });

  it.each([
    ['max-agents', 'maxAgents'],
    ['MaxAgents', 'maxAgents'],
    ['max_Agents', 'maxAgents'],
    ['maxagents', 'maxAgents'],
  ])('does not take %s for %s', (written, key) => {
    expect(isKey(written, key)).toBe(false);
  });
});

describe('joinPath', () => {
  it.each([
    ['', 'a', 'a'],
    ['a', 'b', 'a.b'],
    ['a', 0, 'a[0]'],
    ['a', 'b.c', 'a["b.c"]'],
    ['', 'é', '["é"]'],
  ])('joins %j and %j to %s', (path, key, joined) => {
    expect(joinPath(path, key)).toBe(joined);
  });
});

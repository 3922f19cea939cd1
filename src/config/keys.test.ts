import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isKey, joinPath, nearest, toCamel, toSnake } from './keys.ts';

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

describe('nearest', () => {
  const known = ['max_agents', 'min_agents', 'max_idle_agents', 'idle_decay', 'mode'];

  it.each([
    ['max_agnets', 'max_agents'],
    ['maxAgents', 'max_agents'],
    ['max-agents', 'max_agents'],
    ['idleDecay', 'idle_decay'],
    ['idel_decay', 'idle_decay'],
    ['modes', 'mode'],
    ['max_idle_agent', 'max_idle_agents'],
  ])('takes %s for %s', (written, meant) => {
    expect(nearest(written, known)).toBe(meant);
  });

  it.each(['replicas', 'x', '', 'completely_different'])('has no idea what %j was meant to be', (written) => {
    expect(nearest(written, known)).toBeUndefined();
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

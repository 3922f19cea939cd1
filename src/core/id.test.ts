import { expect, test } from 'vitest';
import { idMaker, slug, workerName } from './id.ts';
import { seededRandom } from './random.ts';

test('ids sort by the time of their making, also within a millisecond and when the clock goes back', () => {
  let nowMs = 1_760_000_000_000;
  const makeId = idMaker(() => nowMs, seededRandom(1));
  const made: string[] = [];

  for (let n = 0; n < 3_000; n++) {
    if (n % 1_000 === 999) nowMs += n % 2 === 0 ? 5 : -5_000;
    made.push(makeId());
  }

  expect(made).toEqual(made.toSorted());
  expect(new Set(made).size).toBe(made.length);
});

test.each([
  ['aws-p3.2xlarge', 'aws-p3-2xlarge'],
  ['a.b_C:d/é', 'a-b-c-d-e'],
  ['---', 'pool'],
  ['x'.repeat(80), 'x'.repeat(20)],
])('a pool named %s gives machines a name that every cloud takes', (name, expected) => {
  const made = workerName({ name, id: 'abcd1234' }, seededRandom(2));

  expect(slug(name)).toBe(expected);
  expect(made).toMatch(/^[a-z]([a-z0-9-]{0,48}[a-z0-9])?$/);
  expect(made.length).toBeLessThanOrEqual(50);
});

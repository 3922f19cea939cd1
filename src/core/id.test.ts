import { expect, test } from 'vitest';
import { idMaker, idsFrom, isLaunchName, launchNames, nameAt, readLaunchName, slug, stemOf } from './id.ts';
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

test('ids made at a time or later sort after the text of that time, earlier ones before it', () => {
  let nowMs = 1_760_000_000_000;
  const makeId = idMaker(() => nowMs, seededRandom(1));

  const made = Array.from({ length: 5 }, () => {
    nowMs += 1;
    return makeId();
  });

  expect(made.filter((id) => id > idsFrom(1_760_000_000_003))).toEqual(made.slice(2));
  expect(made.filter((id) => id < idsFrom(1_760_000_000_003))).toEqual(made.slice(0, 2));
});

test.each([
  ['aws-p3.2xlarge', 'aws-p3-2xl'],
  ['aws-gpus1.large', 'aws-gpus1'],
  ['a.b_C:d/é', 'a-b-c-d-e'],
  ['---', 'pool'],
  ['x'.repeat(80), 'x'.repeat(10)],
])('a pool named %s gives machines a name that every cloud takes', (name, expected) => {
  const [made = ''] = launchNames({ name, id: 'abcd1234' }, 1, seededRandom(2));

  expect(slug(name)).toBe(expected);
  expect(made).toMatch(/^[a-z]([a-z0-9-]{0,30}[a-z0-9])?$/);
  expect(made.length).toBeLessThanOrEqual(32);
});

test('a name says for what and for whom it was given, also with the longer slug of the previous version', () => {
  const [computer = ''] = launchNames({ name: 'desk', id: 'abcd1234' }, 1, seededRandom(2), 'computer');

  expect(readLaunchName(computer)).toEqual({ use: 'computer', owner: 'abcd1234' });
  expect(readLaunchName('m-a-name-of-20-letters-abcd1234-0123456789')).toEqual({ use: 'worker', owner: 'abcd1234' });
  expect(isLaunchName('m-a-name-of-20-letters-abcd1234-0123456789')).toBe(true);
  expect(readLaunchName('i-0123456789')).toBeUndefined();
});

test('a machine that knows only its place in a launch knows its name', () => {
  const names = launchNames({ name: 'gpu', id: 'abcd1234' }, 1_000, seededRandom(3));
  const stem = stemOf(names) ?? '';

  expect(new Set(names).size).toBe(1_000);
  expect(names.map((_, place) => nameAt(stem, place))).toEqual(names);
});

test.each([
  ['in another order', (names: string[]) => names.toReversed()],
  ['of two launches', (names: string[]) => [...names, 'm-gpu-abcd1234-zzzzzzzz03']],
  ['none', () => []],
])('names %s have no common stem', (_, change) => {
  expect(stemOf(change(launchNames({ name: 'gpu', id: 'abcd1234' }, 3, seededRandom(4))))).toBeUndefined();
});

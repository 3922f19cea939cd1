import { expect, test } from 'vitest';
import { age, ageOf, moment, show, showList } from './show.ts';

test.each([
  [0, '0s'],
  [119_000, '119s'],
  [120_000, '2m'],
  [7_199_000, '119m'],
  [7_200_000, '2h'],
  [172_800_000, '2d'],
  [-5_000, '0s'],
])('an age of %d ms reads %s', (ms, text) => {
  expect(age(1_000_000, 1_000_000 + ms)).toBe(text);
});

test('what has no time has no age', () => {
  expect(ageOf(undefined, 0)).toBe('-');
});

test('a moment is shown to the second', () => {
  expect(moment('2026-11-15T23:01:15.307Z')).toBe('2026-11-15 23:01:15Z');
});

test('the same thing is shown as people, JSON or YAML', () => {
  const value = { name: 'gpu' };

  expect(show(value, 'table', () => 'seen')).toBe('seen');
  expect(show(value, 'json', () => 'seen')).toBe('{\n  "name": "gpu"\n}');
  expect(show(value, 'yaml', () => 'seen')).toBe('name: gpu');
});

test('an empty list is said in words on a terminal, and is a list elsewhere', () => {
  const listing = { nothing: 'No pools.', columns: [] };

  expect(showList([], 'table', listing)).toBe('No pools.');
  expect(showList([], 'json', listing)).toBe('[]');
});

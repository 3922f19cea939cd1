import { expect, it } from 'vitest';
import { firstDifference } from './first-difference.ts';

const decided = (atMs: number, did: string, why = did) => ({ atMs, did, why });

it('finds where two policies first do something else, and shows what each of them had decided by then', () => {
  const idle = decided(0, 'nothing', 'Enough.');
  const one = [idle, decided(5, 'launch 1'), decided(9, 'remove 1')];
  const other = [idle, decided(5, 'launch 1'), decided(5, 'nothing', 'At the limit.'), decided(12, 'remove 1')];

  expect(firstDifference(one, other)).toEqual({
    atMs: 9,
    first: decided(9, 'remove 1'),
    other: decided(5, 'nothing', 'At the limit.'),
  });
});

it('shows the decision that acted where the same moment has another one after it', () => {
  const one = [decided(3, 'remove 1'), decided(3, 'nothing')];

  expect(firstDifference(one, [])).toEqual({ atMs: 3, first: decided(3, 'remove 1'), other: undefined });
  expect(firstDifference(one, [decided(3, 'remove 2'), decided(3, 'nothing')])).toMatchObject({
    first: { did: 'remove 1' },
    other: { did: 'remove 2' },
  });
});

it('finds none where only the reasons for doing nothing differ', () => {
  const one = [decided(0, 'nothing', 'Within 0 and 2.'), decided(5, 'launch 1', 'One waits.')];
  const other = [decided(0, 'nothing', 'Within 0 and 4.'), decided(5, 'launch 1', 'One waits, of 4.')];

  expect(firstDifference(one, other)).toBeUndefined();
});

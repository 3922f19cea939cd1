import { expect, it } from 'vitest';
import { isSame } from './equal-data.ts';

it.each([
  [{ a: 1, b: undefined }, { a: 1 }],
  [
    { a: 1, b: { c: [1, 2] } },
    { b: { c: [1, 2] }, a: 1 },
  ],
  [undefined, undefined],
  [Number.NaN, Number.NaN],
  [[], []],
])('takes %j and %j for the same', (a, b) => {
  expect([isSame(a, b), isSame(b, a)]).toEqual([true, true]);
});

it.each([
  [{ a: 1 }, { a: 2 }],
  [{ a: 1 }, { a: 1, b: 0 }],
  [{ a: null }, { a: undefined }],
  [[1, 2], [1]],
  [[], {}],
  ['1', 1],
  [{}, undefined],
])('tells %j and %j apart', (a, b) => {
  expect([isSame(a, b), isSame(b, a)]).toEqual([false, false]);
});

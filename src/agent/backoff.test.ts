import { expect, test } from 'vitest';
import { isFromServer, reconnectDelayMs } from './backoff.ts';

const evenly = { next: () => 0.5, bytes: () => new Uint8Array() };
const lost = { code: 14, details: '' };
const delays = (ending: { code: number; details: string }, random = evenly) =>
  [0, 1, 2, 9, 1_000].map((failures) => Math.round(reconnectDelayMs(ending, failures, random)));

test.each([14, 8])('waits after a lost connection (14) or a crowd (8) grow by 1.6 from 0.2 s to 15 s: %i', (code) => {
  expect(delays({ code, details: '' })).toEqual([200, 320, 512, 13_744, 15_000]);
});

test.each([
  [14, false],
  [8, true],
  [7, true],
])('whether the other addresses of a server that answered %i would answer the same: %s', (code, isSame) => {
  expect(isFromServer({ code, details: '' })).toBe(isSame);
});

test('chance moves a wait by half of it either way', () => {
  expect(delays(lost, { ...evenly, next: () => 0 })[0]).toBe(100);
  expect(delays(lost, { ...evenly, next: () => 0.999_999 })[0]).toBe(300);
});

test.each([3, 7, 16])('a refusal (%i) is tried again slowly, from the first time', (code) => {
  expect(delays({ code, details: '' })).toEqual(Array(5).fill(60_000));
});

test('two agents of one name do not hurry to take the place from each other', () => {
  expect(delays({ code: 10, details: '' })[0]).toBe(15_000);
});

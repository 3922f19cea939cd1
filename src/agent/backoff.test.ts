import { expect, test } from 'vitest';
import { reconnectDelayMs } from './backoff.ts';

const evenly = { next: () => 0.5, bytes: () => new Uint8Array() };
const lost = { code: 14, details: '' };
const delays = (ending: { code: number; details: string }, random = evenly) =>
  [0, 1, 2, 9, 1_000].map((failures) => Math.round(reconnectDelayMs(ending, failures, random)));

test('waits grow by 1.6 from 0.2 s to 15 s', () => {
  expect(delays(lost)).toEqual([200, 320, 512, 13_744, 15_000]);
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

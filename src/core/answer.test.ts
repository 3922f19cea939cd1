import { expect, it } from 'vitest';
import { kindOfStatus, messagesOf, plainMessage, retryAfterMs } from './answer.ts';

it.each([
  [400, 'invalid'],
  [401, 'unauthenticated'],
  [403, 'denied'],
  [404, 'missing'],
  [408, 'unavailable'],
  [409, 'conflict'],
  [418, 'invalid'],
  [429, 'throttled'],
  [500, 'unavailable'],
  [503, 'unavailable'],
  [302, 'unavailable'],
])('the status %i is a fault of the kind %s', (status, kind) => {
  expect(kindOfStatus(status)).toBe(kind);
});

const NOW_MS = Date.parse('2026-11-16T10:00:00Z');

it.each([
  ['7', 7_000],
  ['0', 0],
  ['Mon, 16 Nov 2026 10:00:30 GMT', 30_000],
  ['Mon, 16 Nov 2026 09:00:00 GMT', 0],
  ['86400', 900_000],
  ['soon', undefined],
  ['', undefined],
  [null, undefined],
])('Retry-After %j means %j ms', (header, ms) => {
  expect(retryAfterMs(header, NOW_MS)).toBe(ms);
});

it('messages are of one line and of a length that people read', () => {
  expect(plainMessage(' a\n  b ')).toBe('a b');
  expect(plainMessage('x'.repeat(500))).toHaveLength(401);
  expect(messagesOf(new TypeError('fetch failed', { cause: new Error('ECONNREFUSED') }))).toBe(
    'fetch failed: ECONNREFUSED',
  );
});

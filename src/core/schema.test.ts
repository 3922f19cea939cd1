import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { cidr, count, DURATION_PATTERN, duration, freeMap, protoEnum, script, secret, unused } from './schema.ts';

const isGood = (schema: z.ZodType, value: unknown): boolean => schema.safeParse(value).success;

describe('duration', () => {
  it('answers in milliseconds', () => {
    expect(duration().parse('1m30s')).toBe(90_000);
    expect(duration().parse(90)).toBe(90_000);
  });

  it('refuses what is no duration, negative, or shorter than asked for', () => {
    expect(duration().safeParse('soon').error?.issues[0]?.message).toMatch('not a duration');
    expect(duration().safeParse('-1s').error?.issues[0]?.message).toBe('must be at least 0s');
    expect(duration(60_000).safeParse('59s').error?.issues[0]?.message).toBe('must be at least 1m');
    expect(isGood(duration(), true)).toBe(false);
  });

  it('has a pattern for editors that agrees with the parser on the usual forms', () => {
    const pattern = new RegExp(DURATION_PATTERN);

    for (const text of ['0', '60', '1.5', '90s', '1h30m', '+5m', '1.5h', '7d', '250ms', '3us'])
      expect(pattern.test(text), text).toBe(true);
    for (const text of ['', 'soon', '5 m', '-5s', 's', '1h30', '5M']) expect(pattern.test(text), text).toBe(false);
  });
});

describe('freeMap', () => {
  it('takes plain values as texts, and nothing else', () => {
    expect(freeMap().parse({ a: 'x', b: 1, c: true })).toEqual({ a: 'x', b: '1', c: 'true' });
    for (const value of [null, [], {}, undefined]) expect(isGood(freeMap(), { a: value })).toBe(false);
  });
});

describe('protoEnum', () => {
  const color = protoEnum('COLOR_', ['unspecified', 'dark_red', 'blue']);

  it.each([
    ['COLOR_DARK_RED', 'dark_red'],
    ['dark_red', 'dark_red'],
    ['Blue', 'blue'],
    [2, 'blue'],
    [0, 'unspecified'],
  ])('takes %s for %s', (written, value) => {
    expect(color.parse(written)).toBe(value);
  });

  it.each(['red', 'COLOR_', '', 3, -1, 0.5, true, null])('refuses %s', (written) => {
    expect(isGood(color, written)).toBe(false);
  });
});

describe('cidr', () => {
  it.each(['10.0.0.0/8', '192.168.1.7/32', '0.0.0.0/0', 'fd00::/8', '::1/128'])('takes %s', (network) => {
    expect(isGood(cidr(), network)).toBe(true);
  });

  it.each([
    '10.0.0.0',
    '10.0.0.0/33',
    '10.0.0/8',
    'fd00::/129',
    'x/8',
    '/8',
    '10.0.0.0/',
    '10.0.0.0/-1',
    '10.0.0.0/8/8',
  ])('refuses %s', (network) => {
    expect(isGood(cidr(), network)).toBe(false);
  });
});

it('bounds counts from below, and to whole numbers', () => {
  expect([0, 5].every((value) => isGood(count(), value))).toBe(true);
  expect([-1, 1.5, Number.NaN, '1', 2 ** 60].some((value) => isGood(count(), value))).toBe(false);
  expect(isGood(count(1), 0)).toBe(false);
});

it('notes what the config edge must know', () => {
  expect(z.globalRegistry.get(secret())).toEqual({ secret: true });
  expect(z.globalRegistry.get(script())).toEqual({ literal: true });
  expect(z.globalRegistry.get(unused('why'))).toEqual({ unused: 'why' });
  expect(unused('why').parse({ any: 1 })).toEqual({ any: 1 });
});

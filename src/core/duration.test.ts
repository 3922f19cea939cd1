import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatDuration, parseDuration } from './duration.ts';
import { Fault } from './fault.ts';

describe('parseDuration', () => {
  // Valid by Go's grammar, with what Go answers.
  it.each([
    ['0', 0],
    ['5s', 5_000],
    ['+5s', 5_000],
    ['-5s', -5_000],
    ['-0', 0],
    ['5.0s', 5_000],
    ['5.6s', 5_600],
    ['5.s', 5_000],
    ['.5s', 500],
    ['1.0s', 1_000],
    ['1.004s', 1_004],
    ['100.00100s', 100_001],
    ['10ns', 1e-5],
    ['11us', 0.011],
    ['12µs', 0.012],
    ['12μs', 0.012],
    ['13ms', 13],
    ['14s', 14_000],
    ['15m', 900_000],
    ['16h', 57_600_000],
    ['3h30m', 12_600_000],
    ['10.5s4m', 250_500],
    ['-2m3.4s', -123_400],
    ['1h2m3s4ms5us6ns', 3_723_004.005006],
    ['39h9m14.425s', 140_954_425],
    ['0.100000000000000000000h', 360_000],
    ['0.3333333333333333333h', 1_200_000],
  ])('reads %s as Go does', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each([
    ['60', 60_000],
    ['1.5', 1_500],
    [60, 60_000],
    [0.25, 250],
    ['2d', 172_800_000],
    ['1d12h', 129_600_000],
    [' 5m ', 300_000],
  ])('also reads %s', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each([
    '',
    ' ',
    '3x',
    '-',
    's',
    '.',
    '-.',
    '.s',
    '+.s',
    '1m-5s',
    '1hm',
    '--5s',
    '5 s',
    '1h 30m',
    '5S',
    '1e3s',
    '0x10s',
    'five minutes',
    '5m\n5s',
    '300y',
    '3000000h',
    '9999999999999999999999s',
    Number.POSITIVE_INFINITY,
    Number.NaN,
  ])('refuses %j and says how to write it', (text) => {
    expect(() => parseDuration(text)).toThrow(Fault);
    expect(() => parseDuration(text)).toThrow(
      expect.objectContaining({ kind: 'invalid', remedy: expect.stringContaining('90s') }),
    );
  });
});

describe('formatDuration', () => {
  it.each([
    [0, '0s'],
    [90, '90ms'],
    [90_000, '1m30s'],
    [5_400_000, '1h30m'],
    [86_400_000, '1d'],
    [-1_500, '-1s500ms'],
    [0.0015, '1us500ns'],
  ])('writes %s ms as %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  it('writes what reads back as the same time, within a day to the nanosecond', () => {
    const nanoseconds = fc.integer({ min: -8.64e13, max: 8.64e13 }).map((n) => n / 1e6);
    const milliseconds = fc.integer({ min: -9e12, max: 9e12 });

    fc.assert(
      fc.property(fc.oneof(nanoseconds, milliseconds), (ms) => {
        const back = parseDuration(formatDuration(ms));

        expect(back).toBe(ms + 0);
      }),
      { numRuns: 2_000 },
    );
  });

  it('agrees with whatever order and units of a valid text', () => {
    const part = fc.tuple(fc.nat(10_000), fc.constantFrom('ms', 's', 'm', 'h'));

    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 5 }), (parts) => {
        const text = parts.map(([count, unit]) => `${count}${unit}`).join('');

        expect(parseDuration(formatDuration(parseDuration(text)))).toBe(parseDuration(text));
      }),
    );
  });
});

import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { FAULTS, Fault, type FaultKind, retryDelayMs } from './fault.ts';

const KINDS = Object.keys(FAULTS) as FaultKind[];

const delays = (kind: FaultKind, random = 0.5): number[] =>
  [1, 2, 3, 5, 500].map((attempts) => retryDelayMs(new Fault(kind, 'x'), attempts, random));

test.each(KINDS)('a %s fault is retried some time, and never sooner after more failures', (kind) => {
  const expected = {
    now: [0, 0, 2_000, 8_000, 60_000],
    backoff: [500, 1_000, 2_000, 8_000, 60_000],
    cooldown: [60_000, 60_000, 60_000, 60_000, 60_000],
    slow: [60_000, 60_000, 60_000, 60_000, 60_000],
  }[FAULTS[kind].retry];

  expect(delays(kind)).toEqual(expected);
});

test('retries are spread by a quarter to both sides, unless the other side named the time', () => {
  expect(delays('unavailable', 0)).toEqual([375, 750, 1_500, 6_000, 45_000]);
  expect(delays('unavailable', 0.999_999).map(Math.round)).toEqual([625, 1_250, 2_500, 10_000, 75_000]);
  expect(retryDelayMs(new Fault('throttled', 'x', { retryAfterMs: 7 }), 9, 0)).toBe(7);
});

test('a fault that no program catches shows its remedy, as Node prints it', () => {
  expect(inspect(new Fault('invalid', 'x needs y.', { remedy: 'Give y.' }))).toContain("remedy: 'Give y.'");
  expect(inspect(new Fault('unavailable', 'x is away.'))).toContain(`remedy: '${FAULTS.unavailable.remedy}'`);
});

test('what we did not name ourselves is a bug, with its cause', () => {
  const cause = new TypeError('x is undefined');

  const fault = Fault.from(cause);

  expect(fault.kind).toBe('internal');
  expect(fault.cause).toBe(cause);
  expect(Fault.from(fault)).toBe(fault);
  expect(Fault.from('text').message).toBe('text');
});

test('a better known remedy replaces that of the kind', () => {
  expect(new Fault('quota', 'x').remedy).toBe(FAULTS.quota.remedy);
  expect(new Fault('quota', 'x', { remedy: 'Ask for 8 more vCPUs.' }).remedy).toBe('Ask for 8 more vCPUs.');
});

test.each(['EROFS', 'ENOSPC', 'EACCES', 'EIO'])(
  'what the system refuses (%s) is no bug of ours, and has a remedy',
  (code) => {
    const fault = Fault.from(Object.assign(new Error(`${code}: refused, open '/data/x'`), { code }));

    expect(fault.kind).not.toBe('internal');
    expect(fault.message).toContain('/data/x');
    expect(fault.remedy).toMatch(/disk/);
  },
);

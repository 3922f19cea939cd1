import { expect, test } from 'vitest';
import { FAULTS, Fault, type FaultKind, retryDelayMs } from './fault.ts';

const KINDS = Object.keys(FAULTS) as FaultKind[];

test.each(KINDS)('a %s fault is retried some time', (kind) => {
  for (const attempts of [1, 5, 500]) {
    const waitMs = retryDelayMs(new Fault(kind, 'x'), attempts, 0.5);

    expect(waitMs).toBeGreaterThanOrEqual(0);
    expect(waitMs).toBeLessThanOrEqual(90_000);
  }
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

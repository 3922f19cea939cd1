import { expect, test } from 'vitest';
import { Fault } from '#core/fault.ts';
import { grpcStatusOf } from './status.ts';

test('a fault becomes its status, with what to do about it', () => {
  const fault = new Fault('missing', 'There is no pool "x".', { remedy: 'See the list.' });

  expect(grpcStatusOf(fault)).toEqual({ code: 5, details: 'There is no pool "x". See the list.' });
});

test('the text fits into a header, whatever it quotes', () => {
  const { details } = grpcStatusOf(new Fault('invalid', `${'\ud83d\ude00'.repeat(5_000)}\0`));

  expect(details.length).toBeLessThanOrEqual(1_024);
  expect(() => encodeURI(details)).not.toThrow();
});

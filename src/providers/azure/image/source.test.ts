import { expect, it } from 'vitest';
import { nextNumber } from './source.ts';

it.each([
  ['1.2.0', [], '1.2.0'],
  ['1.2.3', [], '1.2.3000'],
  ['1.2.3', ['1.2.3000', '1.2.3004', '1.2.4000', '1.3.0', '2.2.3009'], '1.2.3005'],
  ['1.2.0', ['1.2.0', '1.2.1', '1.2.1000'], '1.2.2'],
  ['1.3.0-rc.1', ['1.2.0'], '1.3.0'],
  ['1.3.0', ['1.3.0', 'odd'], '1.3.1'],
])('version %s beside %j gets a number higher than all that it has', (version, taken, number) => {
  expect(nextNumber(version, taken)).toBe(number);
});

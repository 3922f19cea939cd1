import { expect, test } from 'vitest';
import { offerShapeIn, readMark, shapeOf } from './mark.ts';

test('a mark that the previous version stored is the mark of a worker', () => {
  const stored = { cluster: 'abcd1234', pool: 'gpu00001', shape: '0123456789ab' };

  expect(readMark(stored)).toEqual({ cluster: 'abcd1234', use: 'worker', owner: 'gpu00001', shape: '0123456789ab' });
});

test('a mark of this version is read as it stands', () => {
  const stored = { cluster: 'abcd1234', use: 'computer', owner: 'desk0001', shape: '0123456789ab' } as const;

  expect(readMark(stored)).toEqual(stored);
});

test.each([undefined, 'ami-1', 'x'.repeat(500), 'é'])('a shape with the form %s fits every cloud', (form) => {
  const shape = shapeOf('0123456789ab', form);

  expect(shape).toMatch(/^[a-z0-9-]{12,21}$/);
  expect(offerShapeIn(shape)).toBe('0123456789ab');
});

test('forms that differ give shapes that differ', () => {
  expect(shapeOf('0123456789ab', 'ami-1')).not.toBe(shapeOf('0123456789ab', 'ami-2'));
});

test('the offer is found in a shape that the previous version wrote', () => {
  expect(offerShapeIn('0123456789ab.cdef0123')).toBe('0123456789ab');
});

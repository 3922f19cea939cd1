import { expect, test } from 'vitest';
import { systemRandom } from './random.ts';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

test('the bytes of the system are never given twice, however many are asked for', () => {
  const seen = new Set(Array.from({ length: 5_000 }, () => hex(systemRandom.bytes(8))));

  expect(seen.size).toBe(5_000);
});

test('a caller keeps its bytes when others ask for more', () => {
  const first = systemRandom.bytes(5);
  const before = hex(first);

  for (let n = 0; n < 2_000; n++) systemRandom.bytes(5);

  expect(hex(first)).toBe(before);
});

test('as many bytes come as were asked for', () => {
  const lengths = [0, 1, 16, 17, 32, 5_000].map((count) => systemRandom.bytes(count).length);

  expect(lengths).toEqual([0, 1, 16, 17, 32, 5_000]);
});

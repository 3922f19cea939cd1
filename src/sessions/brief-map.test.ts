import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BriefMap } from './brief-map.ts';

test('holds what a map holds, however many keys come and go', () => {
  const key = fc.integer({ min: 0, max: 300 }).map(String);
  const step = fc.record({ key, value: fc.option(fc.integer(), { nil: undefined }) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 2_000, size: 'max' }), (steps) => {
      const brief = new BriefMap<number>();
      const plain = new Map<string, number>();
      for (const { key, value } of steps) {
        if (value === undefined) {
          brief.delete(key);
          plain.delete(key);
        } else {
          brief.set(key, value);
          plain.set(key, value);
        }
        expect([brief.get(key), brief.has(key)]).toEqual([plain.get(key), plain.has(key)]);
      }
      for (let n = 0; n <= 300; n++) expect(brief.get(String(n))).toBe(plain.get(String(n)));
    }),
    { numRuns: 20 },
  );
});

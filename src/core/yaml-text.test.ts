import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { writeYaml } from './yaml-text.ts';

const blanks = fc.string({ unit: fc.constantFrom(' ', '\n', 'a', '\t', '#', ':') });

it('reads back as what was written, blanks and line ends too', () => {
  fc.assert(
    fc.property(fc.dictionary(blanks, fc.oneof(blanks, fc.array(blanks))), (value) => {
      expect(parse(writeYaml(value))).toEqual({ ...value });
    }),
    { numRuns: 500 },
  );
});

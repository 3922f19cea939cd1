import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openPieces } from './sent-body.ts';

const MB = 2 ** 20;
const MOST = 4 * MB;

test('The pieces of a body are the body, whatever their sizes are and whether its length is known.', () => {
  const sizes = fc.array(fc.integer({ min: 0, max: 700_000 }), { maxLength: 5 });
  fc.assert(
    fc.property(sizes, fc.boolean(), (lengths, isKnown) => {
      const all = lengths.map((length, n) => Buffer.alloc(length, n + 1));
      const body = Buffer.concat(all);
      const pieces = openPieces(isKnown ? body.length : Number.NaN, MOST);
      for (const piece of all) pieces.add(piece);
      expect(pieces.bytes).toBe(body.length);
      expect(pieces.whole().equals(body)).toBe(true);
    }),
    { numRuns: 60 },
  );
});

test('A claimed length takes no memory before a megabyte of the body has come.', () => {
  const pieces = openPieces(MOST, MOST);
  pieces.add(Buffer.alloc(MB));
  expect(pieces.whole().buffer.byteLength).toBe(MB);
  pieces.add(Buffer.alloc(1));
  expect(pieces.whole().buffer.byteLength).toBe(MOST);
});

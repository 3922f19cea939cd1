import fc from 'fast-check';
import { expect, test } from 'vitest';
import { columnText, SEPARATOR } from './columns.ts';

test('leaves ordinary texts as they are, so that they sort and can be read', () => {
  const texts = ['m-local-1', 'pool/a.b_C:d/é', 'aws:us-west-2:/velda/pools/\nkey', '\u{1f600}'];

  const columns = texts.map(columnText);

  expect(columns).toEqual(texts);
});

test('tells apart what an encoding or a digest might take for the same', () => {
  const texts = ['\ud800', '\udfff', '\ufffd', '\0', columnText('\0'), columnText(columnText('\0')), ''];

  const columns = new Set(texts.map(columnText));

  expect(columns.size).toBe(texts.length);
});

test('gives different columns to different texts, and only such as every database accepts', () => {
  const odd = fc.string({
    unit: fc.constantFrom('a', '\0', '\x1f', '\ud800', '\udc00', '\ufffd', '\ufffe'),
    maxLength: 4,
  });
  const long = fc.constantFrom('x', 'y').map((end) => 'x'.repeat(300) + end);
  const text = fc.oneof(odd, long, fc.string());
  fc.assert(
    fc.property(text, text, (a, b) => {
      const [first, second] = [columnText(a), columnText(b)];

      expect(first === second).toBe(a === b);
      expect(first).not.toBe('');
      expect(first.isWellFormed() && !first.includes('\0') && !first.includes(SEPARATOR)).toBe(true);
      expect(Buffer.byteLength(first)).toBeLessThan(900);
    }),
  );
});

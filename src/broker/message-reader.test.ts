import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { asFrame, MessageReader } from './message-reader.ts';

const LONGEST = 1_000;

/** Every message of these chunks, as text. */
function read(chunks: readonly Buffer[], reader = new MessageReader(LONGEST)): string[] {
  const messages: string[] = [];
  for (const chunk of chunks) {
    reader.add(chunk);
    for (let message = reader.next(); message; message = reader.next()) messages.push(message.toString('latin1'));
  }
  return messages;
}

/** The same bytes in pieces of these lengths, the last as long as it takes. */
function cut(bytes: Buffer, lengths: readonly number[]): Buffer[] {
  const ends = lengths.map((_, place) => lengths.slice(0, place + 1).reduce((sum, length) => sum + length));
  const pieces = ends.map((end, place) => bytes.subarray(end - (lengths[place] ?? 0), end));
  return [...pieces, bytes.subarray(ends.at(-1) ?? 0)].filter((piece) => piece.length > 0);
}

function headOf(length: number, isCompressed = false): Buffer {
  const head = Buffer.alloc(5);
  head[0] = Number(isCompressed);
  head.writeUInt32BE(length, 1);
  return head;
}

describe('messages', () => {
  test('are the same however the connection cuts them', () => {
    const texts = fc.array(fc.string({ unit: 'binary-ascii', maxLength: 40 }), { maxLength: 6 });
    const lengths = fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 30 });
    fc.assert(
      fc.property(texts, lengths, (sent, pieces) => {
        const bytes = Buffer.concat(sent.map((text) => asFrame(Buffer.from(text, 'latin1'))));
        expect(read(cut(bytes, pieces))).toEqual(sent);
      }),
    );
  });

  test('of the greatest length are read; longer ones are refused by their head alone', () => {
    const whole = asFrame(Buffer.alloc(LONGEST, 'x'));

    expect(read(cut(whole, [3, 500]))).toEqual(['x'.repeat(LONGEST)]);
    expect(() => read([headOf(LONGEST + 1)])).toThrow('The message has 1001 bytes; the most is 1000.');
    expect(() => read(cut(headOf(LONGEST + 1), [2]))).toThrow('1001');
  });

  test('may be longer once the caller was checked', () => {
    const reader = new MessageReader(LONGEST);
    reader.longest = 2 * LONGEST;

    expect(read([asFrame(Buffer.alloc(LONGEST + 1, 'x'))], reader)).toHaveLength(1);
  });

  test('that are compressed are refused', () => {
    expect(() => read([headOf(1, true), Buffer.from('x')])).toThrow('compressed');
  });

  test('that have not come as a whole keep no more memory than has come of them', () => {
    const slab = Buffer.alloc(64 * 1_024);
    slab.set(headOf(LONGEST));
    const reader = new MessageReader(LONGEST);
    reader.add(slab.subarray(0, 100));
    expect(reader.next()).toBeUndefined();
    slab.fill(1);

    reader.add(Buffer.alloc(LONGEST + 5 - 100));

    expect(reader.next()?.every((byte) => byte === 0)).toBe(true);
  });
});

import { expect, test } from 'vitest';
import type { OutputChunk, Session } from '#core/session.ts';
import { findTail } from './output-tail.ts';

type Ask = { session: string; attempt?: number | undefined; afterSeq?: number | undefined };

/** The output of attempts, each a list of pieces; counts what is read. */
function storeWith(attempts: readonly (readonly string[])[]) {
  let read = 0;
  const chunksOf = (attempt: number): OutputChunk[] =>
    (attempts[attempt - 1] ?? []).map((text, n) => ({
      session: 's1',
      attempt,
      seq: n + 1,
      stream: 'stdout',
      at: n,
      data: Buffer.from(text),
    }));
  const output = async ({ attempt = 1, afterSeq = 0 }: Ask, limit: number) => {
    const found = chunksOf(attempt)
      .filter(({ seq }) => seq > afterSeq)
      .slice(0, limit);
    read += found.length;
    return found;
  };
  const history = { output } as unknown as Parameters<typeof findTail>[0]['history'];
  async function tail(lines: number, knownSeq = attempts.at(-1)?.length ?? 0): Promise<string> {
    const position = { bytes: 0, seq: knownSeq, isCut: false };
    const session = { id: 's1', attempt: attempts.length, output: position } as unknown as Session;
    const { attempt, afterSeq, skipBytes } = await findTail({ history }, session, lines);
    const after = chunksOf(attempt).filter(({ seq }) => seq > afterSeq);
    return Buffer.concat(after.map(({ data }) => data))
      .subarray(skipBytes)
      .toString();
  }
  return { tail, read: () => read };
}

test.each([
  [0, ''],
  [1, 'c\n'],
  [2, 'b\nc\n'],
  [3, 'a\nb\nc\n'],
  [9, 'a\nb\nc\n'],
])('the last %i lines are found, wherever pieces are cut', async (lines, wanted) => {
  for (const pieces of [['a\nb\nc\n'], ['a', '\nb', '\nc', '\n'], ['a\n', 'b\nc\n'], [...'a\nb\nc\n']]) {
    expect(await storeWith([pieces]).tail(lines)).toBe(wanted);
  }
});

test('a last line without an end counts as a line', async () => {
  expect(await storeWith([['a\nb', '\nc']]).tail(1)).toBe('c');
  expect(await storeWith([['a\nb', '\nc']]).tail(2)).toBe('b\nc');
});

test('long output is read from its end, also where the row knows only an earlier end', async () => {
  const pieces = Array.from({ length: 1_000 }, (_, n) => `line ${n}\n`);
  const { tail, read } = storeWith([pieces]);

  expect(await tail(3)).toBe('line 997\nline 998\nline 999\n');
  expect(read()).toBeLessThan(50);
  expect(await tail(40, 950)).toBe(pieces.slice(960).join(''));
  expect(await tail(200, 950)).toBe(pieces.slice(800).join(''));
});

test('it is that of the newest attempt that has written something', async () => {
  expect(await storeWith([['old\n'], ['new 1\nnew 2\n'], []]).tail(1)).toBe('new 2\n');
  expect(await storeWith([['old\n'], ['new\n']]).tail(5)).toBe('new\n');
  expect(await storeWith([[], []]).tail(5)).toBe('');
});

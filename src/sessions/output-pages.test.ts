import { expect, test } from 'vitest';
import type { OutputChunk } from '#core/session.ts';
import { openOutputPages } from './output-pages.ts';

const aChunk = (seq: number, bytes = 1): OutputChunk => ({
  session: 's1',
  attempt: 1,
  seq,
  stream: 'stdout',
  at: 0,
  data: new Uint8Array(bytes),
});

/** A history that answers when it is told to, with what it has then. */
function openHistory(chunks: OutputChunk[]) {
  const asked: number[] = [];
  let held: (() => void)[] | undefined;
  const history = {
    async output({ afterSeq = 0 }: { afterSeq?: number }, limit: number) {
      asked.push(afterSeq);
      const found = chunks.filter(({ seq }) => seq > afterSeq).slice(0, limit);
      await new Promise<void>((resolve) => (held ? held.push(resolve) : resolve()));
      return found;
    },
  };
  return {
    asked,
    pages: openOutputPages({ history } as never),
    hold() {
      held = [];
    },
    release() {
      for (const resolve of held ?? []) resolve();
      held = undefined;
    },
  };
}

const at = (afterSeq: number) => ({ session: 's1', attempt: 1, afterSeq });
const upTo = (last: number, bytes = 1) => Array.from({ length: last }, (_, index) => aChunk(index + 1, bytes));

test('readers at the same place share one read and the same chunk', async () => {
  const { pages, asked } = openHistory(upTo(40));
  const [one, other] = await Promise.all([pages.next(at(3)), pages.next(at(5))]);
  const again = await pages.next(at(3));

  expect([one?.seq, other?.seq]).toEqual([4, 6]);
  expect(again).toBe(one);
  expect(asked).toEqual([0]);
});

test('numbers may have gaps of any size', async () => {
  const { pages } = openHistory([aChunk(2), aChunk(100), aChunk(1_000)]);
  const seen: (number | undefined)[] = [];
  for (let seq: number | undefined = 0; seq !== undefined; ) {
    seq = (await pages.next(at(seq)))?.seq;
    seen.push(seq);
  }

  expect(seen).toEqual([2, 100, 1_000, undefined]);
});

test('a page that was not full when another reader asked is read again', async () => {
  const chunks = upTo(3);
  const { pages, hold, release } = openHistory(chunks);
  hold();
  const early = pages.next(at(3));
  chunks.push(aChunk(4));
  const late = pages.next(at(3));
  release();

  expect(await early).toBeUndefined();
  expect((await late)?.seq).toBe(4);
});

test('keeps only so many bytes, those used last', async () => {
  const half = 512 * 2 ** 10;
  const { pages, asked } = openHistory(upTo(64, half));
  for (const afterSeq of [0, 16, 32, 0]) await pages.next(at(afterSeq));
  for (const afterSeq of [32, 0, 16]) await pages.next(at(afterSeq));

  expect(asked).toEqual([0, 16, 32, 0, 16]);
});

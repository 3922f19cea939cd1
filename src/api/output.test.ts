import { expect, test } from 'vitest';
import type { OutputChunk } from '#core/session.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { openTurns } from './encoded-output.ts';
import { outputPieces } from './output.ts';

const chunk: OutputChunk = {
  session: 's',
  attempt: 1,
  seq: 1,
  stream: 'stdout',
  at: 0,
  data: Buffer.alloc(64 * 1_024),
};
const asked = { follow: true, after_seq: 0, attempt: 0, raw: true, download: false, stream: undefined };

test('of many readers that wait for the same output, only some send it in one turn of the event loop', async () => {
  const later: (() => void)[] = [];
  const clock = { ...new VirtualClock(), soon: (run: () => void) => void later.push(run) } as never;
  const output = async function* () {
    yield chunk;
  };
  const deps = { sessions: { output }, store: { durable: async () => {} }, turn: openTurns(clock) } as never;
  let sent = 0;
  const read = async (): Promise<void> => {
    for await (const _ of outputPieces(deps, 's', asked, new AbortController().signal)) sent += 1;
  };
  const settled = () => new Promise((resolve) => setImmediate(resolve));

  const all = Promise.all(Array.from({ length: 200 }, read));
  await settled();
  const first = sent;
  for (let run = later.shift(); run; run = later.shift()) {
    run();
    await settled();
  }
  await all;

  expect([first, sent]).toEqual([7, 200]);
});

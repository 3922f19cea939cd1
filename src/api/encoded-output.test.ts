import { expect, test } from 'vitest';
import { VirtualClock } from '#core/virtual-clock.ts';
import { encodeOutput, openTurns } from './encoded-output.ts';

const chunk = { session: 's1', attempt: 1, seq: 2, stream: 'stdout', at: 0, data: Buffer.from('hello') } as const;

test('a piece of output is made once in each form, and all readers get the same bytes', () => {
  const line = encodeOutput(chunk, 'line');

  expect(encodeOutput(chunk, 'line')).toBe(line);
  expect(JSON.parse(line.toString())).toMatchObject({ seq: 2, data: 'aGVsbG8=' });
  expect(JSON.parse(encodeOutput(chunk, 'message').toString())).toMatchObject({ output: { seq: 2 } });
  expect(encodeOutput(chunk, 'raw').buffer).toBe(chunk.data.buffer);
});

test('a reader that takes much leaves every other event its turn; one that takes little goes on at once', async () => {
  const clock = new VirtualClock();
  const turn = openTurns(clock);
  let isOn = false;

  expect(turn(Buffer.alloc(1_000))).toBeUndefined();
  void turn(Buffer.alloc(64_000))?.then(() => {
    isOn = true;
  });
  await Promise.resolve();
  expect(isOn).toBe(false);
  await clock.settle();
  expect(isOn).toBe(true);
});

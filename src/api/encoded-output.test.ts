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

function aTurn() {
  const later: (() => void)[] = [];
  const turn = openTurns({ ...new VirtualClock(), soon: (run: () => void) => void later.push(run) } as never);
  return {
    turn,
    /** What a reader that gets a piece does next: go on at once, or wait. */
    take: (bytes: number, goOn: () => void) => {
      const wait = turn(Buffer.alloc(bytes));
      if (wait === undefined) goOn();
      else void wait.then(goOn);
    },
    async next() {
      for (const run of later.splice(0)) run();
      await Promise.resolve();
      return later.length > 0;
    },
  };
}

test('readers that take much together leave every other event its turn, and go on in order, as many as one turn holds', async () => {
  const { take, next } = aTurn();
  const gone: number[] = [];

  for (let reader = 1; reader <= 20; reader++) take(64 * 1_024, () => gone.push(reader));
  const first = gone.length;
  await next();
  const second = gone.length;
  while (await next());

  expect([first, second, gone.length]).toEqual([7, 14, 20]);
  expect(gone).toEqual(Array.from({ length: 20 }, (_, n) => n + 1));
});

test('short pieces count too: each is a call to the system', async () => {
  const { take, next } = aTurn();
  let sent = 0;

  for (let reader = 1; reader <= 100; reader++) take(10, () => (sent += 1));
  const first = sent;
  while (await next());

  expect([first, sent]).toEqual([32, 100]);
});

test('a reader that takes little goes on at once, turn after turn', async () => {
  const { take, next } = aTurn();
  let count = 0;

  for (let turns = 0; turns < 100; turns++) {
    take(64 * 1_024, () => (count += 1));
    expect(count).toBe(turns + 1);
    await next();
  }
});

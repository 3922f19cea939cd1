import { expect, test } from 'vitest';
import { VirtualClock } from '#core/virtual-clock.ts';
import { createOutbox } from './outbox.ts';
import { openSharedAlarm } from './shared-alarm.ts';

function anOutbox(batchBytes = 10, limitBytes = 100) {
  const clock = new VirtualClock();
  const batches: number[][] = [];
  const sent: (() => void)[] = [];
  const overflows: string[] = [];
  const outbox = createOutbox({
    soon: (run) => clock.soon(run),
    batchBytes,
    limitBytes,
    later: openSharedAlarm(clock, 20),
    send(batch, done) {
      batches.push(batch.map((item) => item.length));
      sent.push(done);
    },
    overflowed: () => void overflows.push('overflowed'),
  });
  const push = (...sizes: number[]): void => {
    for (const size of sizes) outbox.push(new Uint8Array(size));
  };
  return { clock, batches, sent, overflows, outbox, push };
}

test('all of one turn goes in one batch', async () => {
  const { clock, batches, push } = anOutbox();

  push(1, 2, 3);
  expect(batches).toEqual([]);
  await clock.settle();

  expect(batches).toEqual([[1, 2, 3]]);
});

test('what no caller waits for goes with the next batch, or alone a moment later', async () => {
  const { clock, batches, sent, outbox, push } = anOutbox();

  outbox.pushLater(new Uint8Array(1));
  await clock.advance(19);
  expect(batches).toEqual([]);
  push(2);
  await clock.settle();
  expect(batches).toEqual([[1, 2]]);
  sent[0]?.();
  outbox.pushLater(new Uint8Array(3));
  outbox.pushLater(new Uint8Array(4));
  await clock.advance(20);

  expect(batches).toEqual([
    [1, 2],
    [3, 4],
  ]);
});

test('what no caller waits for counts towards the limit', () => {
  const { overflows, outbox } = anOutbox(10, 100);

  for (let count = 0; count < 11; count++) outbox.pushLater(new Uint8Array(10));

  expect(overflows).toEqual(['overflowed']);
});

test('while a batch is on its way, what comes up waits for the next', async () => {
  const { clock, batches, sent, push } = anOutbox();
  push(1);
  await clock.settle();

  push(2);
  await clock.settle();
  push(3);
  await clock.settle();
  expect(batches).toEqual([[1]]);
  sent[0]?.();
  await clock.settle();

  expect(batches).toEqual([[1], [2, 3]]);
});

test('a batch stays within its size, and what is larger goes alone', async () => {
  const { clock, batches, sent, push } = anOutbox();

  push(4, 6, 1, 50, 1);
  for (let turn = 0; turn < 5; turn++) {
    await clock.settle();
    sent[turn]?.();
  }

  expect(batches).toEqual([[4, 6], [1], [50], [1]]);
});

test('where too much waits it says so once and sends nothing more', async () => {
  const { clock, batches, overflows, outbox, push } = anOutbox();
  push(50);
  await clock.settle();

  push(60, 40);
  expect(outbox.waitingBytes).toBe(100);
  push(1, 1);
  await clock.settle();

  expect(overflows).toEqual(['overflowed']);
  expect(batches).toEqual([[50]]);
  expect(outbox.waitingBytes).toBe(0);
});

test('what is not counted waits its turn like all else, but fills nothing', async () => {
  const { clock, batches, sent, overflows, outbox, push } = anOutbox();

  for (const size of [200, 300]) outbox.pushUncounted(new Uint8Array(size));
  push(100);
  expect(outbox.waitingBytes).toBe(600);
  for (let turn = 0; turn < 3; turn++) {
    await clock.settle();
    sent[turn]?.();
  }

  expect(batches).toEqual([[200], [300], [100]]);
  expect(outbox.waitingBytes).toBe(0);
  expect(overflows).toEqual([]);
});

test('what is not counted makes no room for more of the rest, neither waiting nor gone', async () => {
  const { clock, overflows, outbox, push } = anOutbox();
  for (const size of [200, 300]) outbox.pushUncounted(new Uint8Array(size));
  await clock.settle();

  push(60, 40);
  expect(overflows).toEqual([]);
  push(1);

  expect(overflows).toEqual(['overflowed']);
});

test('nothing leaves after it was closed', async () => {
  const { clock, batches, outbox, push } = anOutbox();

  push(1);
  outbox.close();
  push(2);
  await clock.settle();

  expect(batches).toEqual([]);
});

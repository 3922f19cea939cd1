import { expect, test } from 'vitest';
import { Fault } from '#core/fault.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { gathered } from './follow.ts';

function aGatherer(failures = 0) {
  const clock = new VirtualClock();
  const failed: unknown[] = [];
  let runs = 0;
  const call = gathered(
    clock,
    () => {
      runs += 1;
      if (runs <= failures) throw new Fault('unavailable', 'The disk is full.');
    },
    (thrown) => void failed.push(thrown),
  );
  return { clock, call, failed, runs: () => runs };
}

test('many calls before the next turn make one', async () => {
  const { clock, call, runs } = aGatherer();

  for (let count = 0; count < 5; count++) call();
  expect(runs()).toBe(0);
  await clock.settle();
  expect(runs()).toBe(1);
  call();
  await clock.settle();

  expect(runs()).toBe(2);
});

test('what fails is tried again each second until it succeeds, without being called', async () => {
  const { clock, call, failed, runs } = aGatherer(3);

  call();
  await clock.advance(60_000);

  expect(runs()).toBe(4);
  expect(failed).toHaveLength(3);
});

test('what has failed is not tried sooner however often it is called', async () => {
  const { clock, call, runs } = aGatherer(2);
  call();
  await clock.settle();

  for (let passedMs = 0; passedMs < 2_000; passedMs += 10) {
    call();
    await clock.advance(10);
  }

  expect(runs()).toBe(3);
});

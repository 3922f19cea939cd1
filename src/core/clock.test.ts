import { expect, test } from 'vitest';
import { systemClock } from './clock.ts';
import { VirtualClock } from './virtual-clock.ts';

test('alarms ring in order of time, then of setting', async () => {
  const clock = new VirtualClock(0);
  const rung: string[] = [];
  clock.alarm(20, () => rung.push('late'));
  clock.alarm(10, () => rung.push('first'));
  clock.alarm(10, () => rung.push('second'));

  await clock.advance(15);
  expect(rung).toEqual(['first', 'second']);

  await clock.advance(5);
  expect(rung).toEqual(['first', 'second', 'late']);
});

test('a cancelled alarm does not ring', async () => {
  const clock = new VirtualClock(0);
  let rung = false;
  const cancel = clock.alarm(10, () => (rung = true));

  cancel();
  await clock.advance(100);

  expect(rung).toBe(false);
  expect(clock.nextAlarmMs()).toBeUndefined();
});

test('what follows from an alarm happens at its time, also through promises', async () => {
  const clock = new VirtualClock(0);
  const times: number[] = [];
  const run = async (): Promise<void> => {
    for (let turn = 0; turn < 3; turn++) {
      await clock.sleep(10);
      times.push(clock.now());
    }
  };

  const done = run();
  await clock.advance(1_000);
  await done;

  expect(times).toEqual([10, 20, 30]);
  expect(clock.now()).toBe(1_000);
});

test('sleep ends at once when its signal aborts', async () => {
  const clock = new VirtualClock(0);
  const stop = new AbortController();
  let isAwake = false;
  void clock.sleep(10_000, stop.signal).then(() => (isAwake = true));

  stop.abort();
  await clock.settle();

  expect(isAwake).toBe(true);
  expect(clock.nextAlarmMs()).toBeUndefined();
});

test('setting the wall clock moves dates, not spans or alarms', async () => {
  const clock = new VirtualClock(1_000);
  let rangAt = -1;
  clock.alarm(50, () => (rangAt = clock.monotonic()));

  clock.jump(-3_600_000);
  await clock.advance(50);

  expect(rangAt).toBe(50);
  expect(clock.now()).toBe(1_050 - 3_600_000);
});

test('ten thousand alarms come out sorted', async () => {
  const clock = new VirtualClock(0);
  const rung: number[] = [];
  for (let n = 0; n < 10_000; n++) clock.alarm((n * 7_919) % 10_007, () => rung.push(clock.now()));

  await clock.advance(10_007);

  expect(rung).toHaveLength(10_000);
  expect(rung).toEqual(rung.toSorted((a, b) => a - b));
});

test('when most alarms are cancelled the others still ring, in order', async () => {
  const clock = new VirtualClock(0);
  const rung: number[] = [];
  const cancels = [70, 10, 90, 40, 20, 100, 60, 30, 80, 50].map((ms) => clock.alarm(ms, () => rung.push(ms)));

  for (const cancel of cancels.slice(4)) cancel();
  await clock.advance(50);
  expect(rung).toEqual([10, 40]);

  await clock.advance(50);
  expect(rung).toEqual([10, 40, 70, 90]);
});

test('the system clock takes waits that are longer than setTimeout can', () => {
  let rung = false;
  const cancel = systemClock.alarm(2 ** 40, () => (rung = true));

  cancel();

  expect(rung).toBe(false);
});

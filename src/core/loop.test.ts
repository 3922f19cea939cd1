import { expect, test } from 'vitest';
import { Fault } from './fault.ts';
import { silentLog } from './log.ts';
import { type LoopOptions, startLoop } from './loop.ts';
import { seededRandom } from './random.ts';
import { VirtualClock } from './virtual-clock.ts';

function aLoop(reconcile: LoopOptions['reconcile'], more: Partial<LoopOptions> = {}) {
  const clock = new VirtualClock(0);
  const loop = startLoop({ name: 'test', clock, random: seededRandom(1), log: silentLog, reconcile, ...more });
  return { clock, loop };
}

test('ten pokes before the next pass make one pass', async () => {
  const seen: string[] = [];
  const { clock, loop } = aLoop((id) => void seen.push(id));

  for (let n = 0; n < 10; n++) loop.poke('a');
  await clock.settle();

  expect(seen).toEqual(['a']);
});

test('a poke during a pass makes one more, never two at a time', async () => {
  let running = 0;
  let most = 0;
  let passes = 0;
  const { clock, loop } = aLoop(async () => {
    most = Math.max(most, ++running);
    passes += 1;
    await clock.sleep(10);
    running -= 1;
  });

  loop.poke('a');
  await clock.advance(5);
  loop.poke('a');
  loop.poke('a');
  await clock.advance(100);

  expect({ passes, most }).toEqual({ passes: 2, most: 1 });
});

test('comes back after the time that the pass asked for, and a poke replaces that alarm', async () => {
  const times: number[] = [];
  const { clock, loop } = aLoop(() => {
    times.push(clock.now());
    return { afterMs: 100 };
  });

  loop.poke('a');
  await clock.advance(150);
  loop.poke('a');
  await clock.advance(100);

  expect(times).toEqual([0, 100, 150, 250]);
});

test('a failed pass is tried again later and later, and a success starts afresh', async () => {
  const times: number[] = [];
  const { clock, loop } = aLoop(() => {
    times.push(clock.now());
    if (times.length <= 4) throw new Fault('unavailable', 'away');
  });

  loop.poke('a');
  await clock.advance(60_000);

  const gaps = times.slice(1).map((time, n) => time - (times[n] as number));
  expect(gaps).toHaveLength(4);
  expect(gaps).toEqual(gaps.toSorted((a, b) => a - b));
});

test('waits as long as the fault says', async () => {
  const times: number[] = [];
  const { clock, loop } = aLoop(() => {
    times.push(clock.now());
    if (times.length === 1) throw new Fault('throttled', 'slow down', { retryAfterMs: 7_000 });
  });

  loop.poke('a');
  await clock.advance(60_000);

  expect(times).toEqual([0, 7_000]);
});

test('one id that hangs holds up no other', async () => {
  const seen: string[] = [];
  const { clock, loop } = aLoop((id) => {
    seen.push(id);
    return id === 'stuck' ? new Promise<void>(() => {}) : undefined;
  });

  for (const id of ['stuck', 'a', 'b']) loop.poke(id);
  await clock.settle();

  expect(seen).toEqual(['stuck', 'a', 'b']);
});

test('no more passes wait at a time than allowed', async () => {
  let running = 0;
  let most = 0;
  const { clock, loop } = aLoop(
    async () => {
      most = Math.max(most, ++running);
      await clock.sleep(1);
      running -= 1;
    },
    { concurrency: 3 },
  );

  for (let n = 0; n < 20; n++) loop.poke(`id${n}`);
  await clock.advance(100);

  expect({ most, running }).toEqual({ most: 3, running: 0 });
});

test('stopping waits for running passes and starts no other', async () => {
  let isDone = false;
  let passes = 0;
  const { clock, loop } = aLoop(async () => {
    passes += 1;
    await clock.sleep(10);
    isDone = true;
  });
  loop.poke('a');
  await clock.settle();

  const stopped = loop.stop().then(() => isDone);
  loop.poke('b');
  await clock.advance(20);

  expect(await stopped).toBe(true);
  expect(passes).toBe(1);
});

test('ten thousand pokes give other events their turn in between', async () => {
  let passes = 0;
  const turns: number[] = [];
  const { clock, loop } = aLoop(() => {
    passes += 1;
  });

  for (let n = 0; n < 10_000; n++) loop.poke(`id${n}`);
  const watch = (): void => {
    turns.push(passes);
    if (passes < 10_000) clock.soon(watch);
  };
  clock.soon(watch);
  await clock.settle();

  expect(passes).toBe(10_000);
  expect(turns.length).toBeGreaterThan(10);
});

import { expect, it } from 'vitest';
import { inSlices, openBurstQueue } from './slices.ts';
import { VirtualClock } from './virtual-clock.ts';

/** A clock on which steps take as long as they say. */
function busyClock() {
  const clock = new VirtualClock();
  let nowMs = 0;
  const turns: number[] = [];
  return {
    clock: {
      ...clock,
      monotonic: () => nowMs,
      soon(run: () => void) {
        turns.push(nowMs);
        queueMicrotask(run);
      },
    } as never,
    work: (ms: number) => {
      nowMs += ms;
    },
    turns,
  };
}

it('lets others have their turn after each step that takes longer than a slice', async () => {
  const { clock, work, turns } = busyClock();

  await inSlices(clock, [100, 100, 100], work);

  expect(turns).toEqual([100, 200, 300]);
});

it('goes on while the slice lasts', async () => {
  const { clock, work, turns } = busyClock();

  await inSlices(clock, Array<number>(12).fill(1), work);

  expect(turns).toEqual([6, 12]);
});

function burstClock() {
  let nowMs = 0;
  const soon: (() => void)[] = [];
  const ticks: (() => void)[] = [];
  return {
    clock: { monotonic: () => nowMs, soon: (run: () => void) => void soon.push(run) } as never,
    work: (ms: number) => {
      nowMs += ms;
    },
    /** The next turn; false where nothing is left to do. */
    turn(): boolean {
      const due = soon.splice(0);
      const thrown: unknown[] = [];
      for (const run of due) {
        try {
          run();
        } catch (error) {
          thrown.push(error);
        }
        for (const tick of ticks.splice(0)) tick();
      }
      if (thrown.length > 0) throw thrown[0];
      return due.length > 0;
    },
    /** Runs before the next event of the same turn. */
    tick: (run: () => void) => void ticks.push(run),
  };
}

it('does of a burst what fits into the turn, and the rest in later ones, in order', () => {
  const { clock, work, turn } = burstClock();
  const queue = openBurstQueue(clock);
  const done: number[] = [];
  const add = (id: number) =>
    queue.run(() => {
      done.push(id);
      work(3);
    });

  for (const id of [1, 2, 3, 4, 5]) add(id);
  expect(done).toEqual([1, 2]);

  turn();
  add(6);
  expect(done).toEqual([1, 2, 3, 4]);

  turn();
  expect(done).toEqual([1, 2, 3, 4, 5, 6]);
});

it('counts what the work sets off for its share of the turn', () => {
  const { clock, work, turn, tick } = burstClock();
  const queue = openBurstQueue(clock);
  const done: number[] = [];
  queue.run(() => work(100));
  for (const id of [1, 2, 3, 4, 5])
    queue.run(() => {
      done.push(id);
      tick(() => work(3));
    });

  turn();
  expect(done).toEqual([1, 2]);

  turn();
  expect(done).toEqual([1, 2, 3, 4]);
});

it('serves two lanes by turns', () => {
  const { clock, work, turn } = burstClock();
  const queue = openBurstQueue(clock);
  const done: number[] = [];
  queue.run(() => work(100));
  for (const id of [1, 2, 3, 4]) queue.run(() => done.push(id));
  for (const id of [11, 12]) queue.run(() => done.push(id), 1);

  turn();

  expect(done).toEqual([11, 1, 12, 2, 3, 4]);
});

it('gives each of two queues its share of the turn', () => {
  const { clock, work, turn } = burstClock();
  const [first, second] = [openBurstQueue(clock), openBurstQueue(clock)];
  const done: string[] = [];
  const workFor = (name: string) => () => {
    work(100);
    done.push(name);
  };
  for (const id of [1, 2, 3]) {
    first.run(workFor(`first ${id}`));
    second.run(workFor(`second ${id}`));
  }

  turn();
  expect(done.toSorted()).toEqual(['first 1', 'first 2', 'second 1', 'second 2']);

  turn();
  expect(done).toHaveLength(6);
});

it('does what comes in a later turn at once, and then has nothing left to do', () => {
  const { clock, work, turn } = burstClock();
  const queue = openBurstQueue(clock);
  const done: number[] = [];
  queue.run(() => work(100));
  while (turn());

  queue.run(() => done.push(1));

  expect(done).toEqual([1]);
});

it('goes on after work that throws', () => {
  const { clock, work, turn } = burstClock();
  const queue = openBurstQueue(clock);
  const done: number[] = [];
  queue.run(() => work(100));
  queue.run(() => {
    throw new TypeError('no');
  });
  queue.run(() => done.push(1));

  expect(turn).toThrow('no');
  turn();

  expect(done).toEqual([1]);
});

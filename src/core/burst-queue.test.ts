import { expect, it } from 'vitest';
import { openBurstQueue } from './burst-queue.ts';

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
    waking: () => soon.length,
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

it('wakes the event loop once a turn, however many queues there are', () => {
  const { clock, turn, waking } = burstClock();
  const queues = [1, 2, 3].map(() => openBurstQueue(clock));

  for (const queue of queues) queue.run(() => {});
  expect(waking()).toBe(1);

  turn();
  expect(waking()).toBe(0);
});

it('serves flows round robin', () => {
  const { clock, work, turn } = burstClock();
  const queue = openBurstQueue(clock);
  const done: string[] = [];
  queue.run(() => work(100));
  for (const id of ['a1', 'a2', 'a3', 'b1', 'c1', 'c2']) queue.run(() => done.push(id), id.charAt(0));

  turn();

  expect(done).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3']);
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

it('gives those who were woken together their turns one after the other', async () => {
  const { clock, work, turn, tick } = burstClock();
  const queue = openBurstQueue(clock);
  let gone = 0;
  for (let n = 0; n < 5; n++)
    void queue.turn().then(() => {
      gone += 1;
    });
  await Promise.resolve();
  expect(gone).toBe(0);

  // What each does once it was woken takes its time: as the test cannot await within a turn, a tick stands for it.
  for (let n = 0; n < 5; n++) queue.run(() => tick(() => work(3)), 'busy');
  turn();
  await Promise.resolve();
  expect(gone).toBeLessThan(5);

  while (turn());
  await Promise.resolve();
  expect(gone).toBe(5);
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

import { describe, expect, inject, it } from 'vitest';
import { Fault } from '#core/fault.ts';
import { runWorld } from './day.ts';
import { FAULT_RATES, type FaultRates, NO_FAULTS, onlyFaults } from './faults.ts';
import { neverHappened, noRequiredEvents, type RequiredEvent, whyWithout } from './required-events.ts';
import type { SeededWorld, SeededWorldOptions } from './seeded-world.ts';
import { neverLookedAt, summaryOf } from './summary.ts';

/** What broke, with enough of what came before to see why. */
const whyBroken = ({ invariants, eventLog }: SeededWorld): string =>
  invariants.firstBreak ? eventLog.last(50).join('\n') : '';

const timesAsOften = (factor: number): FaultRates =>
  Object.fromEntries(
    Object.entries(FAULT_RATES).map(([name, rate]) => [name, name === 'late-list' ? rate : rate * factor]),
  ) as unknown as FaultRates;

const MANY_FAULTS = timesAsOften(3);

const range = (from: number, count: number): number[] => Array.from({ length: count }, (_, at) => from + at);

// Each of the few has every required event; `npm run test:long` takes all.
const SEEDS = inject('sliceStride') === 1 ? range(1, 20) : [3, 4, 5, 8];

describe('a world in which everything goes wrong', () => {
  const happened = noRequiredEvents();

  it.each(SEEDS)('keeps every invariant for three hours of busy pools: seed %i', async (seed) => {
    const world = await runWorld({ seed, pools: 4, faults: MANY_FAULTS, sessionsPerPoolHour: 60 }, 3);

    expect(whyBroken(world)).toBe('');
    expect(world.figures.crashes).toBeGreaterThan(0);
    expect(world.draws.counts.size).toBeGreaterThan(15);
    expect(neverLookedAt(world)).toEqual([]);
    expect(world.figures.calls.suspend).toBeGreaterThan(0);
    for (const [name, count] of Object.entries(world.figures.requiredEvents)) happened[name as RequiredEvent] += count;
  });

  it('has seen each required event in one of these seeds', () => {
    expect(Object.keys(happened).filter((name) => happened[name as RequiredEvent] === 0)).toEqual([]);
  });

  it('keeps them with sessions of seconds, and with sessions of many minutes', async () => {
    const short = await runWorld(
      { seed: 1, pools: 2, faults: MANY_FAULTS, sessionsPerPoolHour: 600, meanSessionMs: 4_000 },
      1,
    );
    const long = await runWorld(
      { seed: 2, pools: 2, faults: MANY_FAULTS, sessionsPerPoolHour: 10, meanSessionMs: 900_000 },
      6,
    );

    expect(whyBroken(short) + whyBroken(long)).toBe('');
  });
});

describe('a run', () => {
  it('catches a pool that has nothing idle long after the last fault', async () => {
    const world = await runWorld(
      {
        ...{ seed: 3, pools: 4, faults: MANY_FAULTS, sessionsPerPoolHour: 60 },
        sabotage: {
          wrapBackend: (backend) => ({
            ...backend,
            create: async () => {
              throw new Fault('exhausted', 'Nothing is ever to be had here.');
            },
          }),
        },
      },
      1,
    );

    expect(world.invariants.firstBreak?.invariant).toBe('idle-kept');
  });

  it('says which invariants it never put to the test', async () => {
    const world = await runWorld({ seed: 1, isPlain: true, pools: 2, faults: MANY_FAULTS, sessionsPerPoolHour: 60 }, 3);

    expect(whyBroken(world)).toBe('');
    expect(neverLookedAt(world)).toEqual(['idle-kept']);
  });
});

describe('a long run', () => {
  const rarely: SeededWorldOptions = {
    seed: 1,
    pools: 2,
    sessionsPerPoolHour: 4,
    faults: onlyFaults('takeover', 'update'),
  };

  it('fails where something that its world can have never happened, and says why others could not', async () => {
    const world = await runWorld(rarely, 12);
    const happened = neverHappened(world);
    Object.assign(world.figures.requiredEvents, noRequiredEvents());

    expect(whyBroken(world)).toBe('');
    expect(happened).toEqual([]);
    expect(neverHappened(world)).toEqual(['replacement', 'takeover']);
    expect(whyWithout(world, 'parking')).toBe('no pool parks');
    expect(whyWithout(world, 'notice')).toBe('the fault notice does not happen');
  });
});

describe('a world in which nothing goes wrong', () => {
  it('keeps its idle slots and wastes nothing for a whole day', async () => {
    const world = await runWorld({ seed: 1, pools: 6, sessionsPerPoolHour: 10 }, 24);

    expect(whyBroken(world)).toBe('');
    expect([...world.laws.sessions.ends.keys()]).toEqual(['exited']);
    expect(world.figures.starts).toBe(world.figures.accepted);
    expect(world.invariants.looks['idle-kept']).toBeGreaterThan(1_000);
    expect(world.invariants.looks.replayed).toBeGreaterThan(1_000);
  });
});

describe('the seed', () => {
  const options: SeededWorldOptions = { seed: 7, pools: 3, faults: MANY_FAULTS, sessionsPerPoolHour: 60 };

  it('gives the same world again, and another seed another one', async () => {
    const first = summaryOf(await runWorld(options, 2));
    const second = summaryOf(await runWorld(options, 2));
    const other = summaryOf(await runWorld({ ...options, seed: 8 }, 2));

    expect(second).toEqual(first);
    expect(other).not.toEqual(first);
  });
});

describe('what once went wrong', () => {
  // Machines that come and go by the minute, while listings are late or empty and the server dies every minute.
  const restless: Omit<SeededWorldOptions, 'seed'> = {
    isPlain: true,
    pools: 8,
    faults: { ...NO_FAULTS, 'late-list': 1, crash: 60, 'empty-list': 0.1, 'partial-reply': 0.2 },
    sessionsPerPoolHour: 400,
    meanSessionMs: 4_000,
  };

  it.each([
    [6, 'a machine removed before any listing had shown it was forgotten while it still shut down'],
    [12, 'one empty listing was taken for the proof that a machine was gone'],
    [2, 'after a restart, a machine that no listing had shown yet was taken for vanished'],
  ])('seed %i: %s', async (seed) => {
    const world = await runWorld({ ...restless, seed }, 0.5);

    expect(whyBroken(world)).toBe('');
  });

  it('seed 30118: a refused repeat was taken for the proof that an earlier call had made nothing', async () => {
    const world = await runWorld(
      {
        seed: 30_118,
        isPlain: true,
        pools: 3,
        faults: timesAsOften(10),
        sessionsPerPoolHour: 60,
        meanSessionMs: 30_000,
      },
      3,
    );

    expect(whyBroken(world)).toBe('');
  });
});

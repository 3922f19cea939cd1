// What a cloud refuses at once, promises and never makes, or is asked for a hundred times at once, through the classes.
import { describe, expect, inject, it } from 'vitest';
import { FIXTURES } from './testing/fixtures.ts';
import { openLibraryWorld } from './testing/world.ts';

/** All of them in the long run. */
const MANY = inject('sliceStride') === 1 ? 100 : 10;

const numbers = Array.from({ length: MANY }, (_, at) => at);

describe.each(FIXTURES)('$title', ({ harness, make, remains, creation, ...fixture }) => {
  const open = (pageSize = 1) => openLibraryWorld(harness, { ...fixture.world, pageSize });

  it.each(fixture.shortages.map((what) => [what.kind === 'error' ? (what.message ?? what.code) : what.kind, what]))(
    'says what its cloud says, "%s", after the last try, and leaves nothing',
    async (words, what) => {
      const world = await open();
      world.cloud.fake.failureRules.add({ action: creation, times: 9, what });
      const box = make(world.script(), { log: world.log });

      const failure = await world.during(box.setup()).catch((thrown: Error) => thrown);

      expect(String(failure)).toContain('Failed after 3 attempts: ');
      expect(String(failure)).toContain(words);
      expect(box.getStatus()).toBe('error');
      expect(world.cloud.fake.countOf(creation)).toBe(3);
      expect(remains(world)).toEqual([]);
    },
  );

  it.each([
    [1, 'running', 'comes up by the next launch'],
    [3, 'error', 'fails after the third'],
  ])('whose machine is promised and never comes, %i times, is %s in the end: it %s', async (times, status) => {
    const world = await open();
    world.cloud.refuseLate(times);
    const box = make(world.script(), { log: world.log, timeout: 3_600, ...fixture.late });

    const failure = await world.during(box.setup()).then(
      () => '',
      ({ message }: Error) => message,
    );

    expect([box.getStatus(), failure]).toEqual([
      status,
      status === 'running' ? '' : expect.stringMatching(/^Failed after 3 attempts: /),
    ]);
    expect(world.lines.filter(([, line]) => /Error, retrying \(\d\/3\): /.test(line)).length).toBe(Math.min(times, 2));
    if (status === 'error') expect(remains(world)).toEqual([]);
    await world.during(box.teardown());
    expect(remains(world)).toEqual([]);
  });

  it(`${MANY} computers of as many names come and go at once; none is lost, and none is made twice`, async () => {
    const world = await open(1_000);
    const boxes = numbers.map((at) =>
      make(world.script(), { name: `box-${at}`, timeout: 3_600, ...fixture.another?.(at) }),
    );

    await world.during(Promise.all(boxes.map((box) => box.setup())));
    const clusters = world.ours().map(({ mark }) => mark?.cluster);
    expect([clusters.length, new Set(clusters).size]).toEqual([MANY, MANY]);
    expect(await world.during(Promise.all(boxes.map((box) => box.isRunning())))).toEqual(numbers.map(() => true));
    await world.during(Promise.all(boxes.map((box) => box.teardown())));
    expect(remains(world)).toEqual([]);
    expect(world.cloud.machines().filter(({ mark }) => mark !== undefined)).toHaveLength(MANY);
  });
});

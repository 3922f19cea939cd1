import { describe, expect, it } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { aPool } from '#core/testing/pool.ts';
import { namesAskedFor, namesEnded } from '#machines/testing/ended.ts';
import { openPoolWorld, type PoolWorld, type PoolWorldOptions } from '#sim/pool-world.ts';

type Point = { readonly at: 'write' | 'call'; readonly nth: number; readonly isDone: boolean };

interface Run {
  readonly world: PoolWorld;
  readonly writes: number;
  readonly peak: number;
  readonly accepted: number;
}

/** A cloud that makes machines at once, and one that agrees first; its first machine never comes. */
const CLOUDS = {
  'at once': { bootMs: 5_000, deletingMs: 3_000 },
  afterwards: { bootMs: 5_000, deletingMs: 3_000, pendingMs: 3_000 },
} as const;
type Makes = keyof typeof CLOUDS;

/** One scripted run: grow, work, shrink. The process dies at the given point and is started again five seconds later. */
async function run(makes: Makes, point?: Point): Promise<Run> {
  let writes = 0;
  let calls = 0;
  let peak = 0;
  let accepted = 0;
  let die = (): void => {};
  const isHit = (at: Point['at'], nth: number): boolean => point?.at === at && point.nth === nth;
  const onWrite: PoolWorldOptions['onWrite'] = async (_nth, write) => {
    writes += 1;
    if (!isHit('write', writes)) return write();
    if (point?.isDone) await write();
    die();
    return new Promise(() => {});
  };
  const pool = aPool({ maxAgents: 3, minIdleSlots: 1, maxIdleSlots: 1, syncEveryMs: 20 * SECOND_MS });
  const world = await openPoolWorld({ pools: [pool], onWrite, cloud: CLOUDS[makes] });
  let failed: string | undefined;
  world.cloud.failsLate = (name) => {
    failed ??= name;
    return name === failed ? new Fault('exhausted', 'none left') : undefined;
  };
  die = () => {
    world.crash();
    world.clock.alarm(5 * SECOND_MS, () => void world.start());
  };
  world.cloud.script = () => {
    calls += 1;
    if (!isHit('call', calls)) return undefined;
    world.clock.soon(die);
    return { is: 'hang', isDone: point?.isDone ?? false };
  };
  world.cloud.onBoot(() => {
    peak = Math.max(peak, world.cloud.machines().length);
  });
  const submit = (count: number): void => {
    world.life.submit(pool.name, count, 20 * SECOND_MS).then(
      () => (accepted += count),
      () => {},
    );
  };

  await world.advance(10 * SECOND_MS);
  submit(4);
  await world.advance(40 * SECOND_MS);
  submit(1);
  await world.advance(6 * MINUTE_MS);
  return { world, writes, peak, accepted };
}

function expectWhole({ world, peak, accepted }: Run): void {
  const rows = [...world.life.store.view.workers.all()].map((worker) => worker.id);
  const machines = world.cloud.machines().map((made) => made.machine.name);
  expect(machines.toSorted()).toEqual(rows.toSorted());
  expect(world.phases()).toBe('1 idle');
  expect(namesEnded(world.disk)).toEqual(namesAskedFor(world.disk).filter((name) => !rows.includes(name)));
  expect(peak).toBeLessThanOrEqual(3);
  expect(Math.max(...world.cloud.made.values())).toBe(1);
  expect(world.agents.kills).toEqual([]);
  const ran = [...world.agents.runs.values()];
  expect(ran.length).toBeGreaterThanOrEqual(accepted);
  expect(ran.every((times) => times === 1)).toBe(true);
  expect(world.life.store.view.sessions.size).toBe(0);
  expect(world.life.store.view.launches.size).toBe(0);
}

async function expectWholeAtEvery(makes: Makes, at: Point['at'], count: number): Promise<void> {
  for (let nth = 1; nth <= count; nth++) {
    for (const isDone of [false, true]) {
      const point = { at, nth, isDone };
      try {
        expectWhole(await run(makes, point));
      } catch (thrown) {
        throw new Error(`dropped at ${JSON.stringify(point)}: ${(thrown as Error).message}`, { cause: thrown });
      }
    }
  }
}

describe.each(Object.keys(CLOUDS) as Makes[])(
  'the process dropped at any point, with a cloud that tells %s',
  (makes) => {
    it('is whole when nothing happens to it', async () => {
      expectWhole(await run(makes));
    });

    it('leaves no worker doubled or leaked and no session lost, at every commit, durable or not', async () => {
      const { writes } = await run(makes);

      expect(writes).toBeGreaterThan(15);
      await expectWholeAtEvery(makes, 'write', writes);
    });

    it('leaves no worker doubled or leaked and no session lost, at every call to the cloud, heard or not', async () => {
      const { world } = await run(makes);

      expect(world.cloud.calls.length).toBeGreaterThan(10);
      await expectWholeAtEvery(makes, 'call', world.cloud.calls.length);
    });
  },
);

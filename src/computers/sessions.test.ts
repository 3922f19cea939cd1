import { describe, expect, it } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { aPool } from '#core/testing/pool.ts';
import { commandOf } from '#sim/work.ts';
import { ADMIN, type ComputerWorld, openComputerWorld } from './testing/world.ts';

const spec = (seconds: number, more = {}) => ({
  command: commandOf({ durationMs: seconds * SECOND_MS, exitCode: 0, pieces: 0 }),
  ...{ env: {}, stdin: false, priority: 0, labels: {}, graceMs: 1_000, retries: 0 },
  ...more,
});

async function open() {
  const world = await openComputerWorld({ pools: [aPool({ minIdleSlots: 1 })] });
  await world.create('dev');
  await world.advance(MINUTE_MS);
  return world;
}

const computerOf = (world: ComputerWorld): string => world.computers.find('dev')?.computer.id ?? '';
const submit = async (world: ComputerWorld, seconds: number, more = {}) => {
  const [session] = await world.life.sessions.submit(
    [{ computer: computerOf(world), spec: spec(seconds, more) }],
    ADMIN,
  );
  await world.advance(SECOND_MS);
  return session?.id ?? '';
};
const ended = (world: ComputerWorld, id: string) => world.disk.histories.ended.find((one) => one.id === id)?.end;

describe('a session of a computer', () => {
  it('runs on its machine and on no worker of a pool', async () => {
    const world = await open();
    const id = await submit(world, 30);

    expect(world.life.store.view.sessions.get(id)).toMatchObject({
      use: 'computer',
      poolName: 'dev',
      worker: world.made()[0],
    });
    expect(world.life.workers.plan('id-gpu').figures.idle).toBe(1);
    await world.advance(MINUTE_MS);
    expect(ended(world, id)).toMatchObject({ how: 'exited', exitCode: 0 });
  });

  it('is no demand of a pool, and a session of a pool never runs on a computer', async () => {
    const world = await open();
    for (const _ of Array(3)) await world.life.sessions.submit([{ pool: 'gpu', spec: spec(600) }], ADMIN);
    await world.advance(2 * MINUTE_MS);

    const workers = Array.from(world.life.store.view.sessions.all(), ({ worker }) => worker);
    expect(workers).not.toContain(world.made()[0]);
    expect(workers.every((worker) => worker === undefined || worker.startsWith('m-'))).toBe(true);
  });

  it('is cancelled when it waits, and ends as lost when it runs, once its computer is removed', async () => {
    const world = await open();
    const running = await submit(world, 3_600);
    world.agents.cutOff(world.made(), true);
    await world.advance(SECOND_MS);
    const waiting = await submit(world, 10);

    await world.computers.remove('dev', ADMIN);
    await world.advance(10 * MINUTE_MS);

    expect(ended(world, waiting)).toMatchObject({
      how: 'cancelled',
      message: 'The computer of this session is being removed.',
    });
    expect(ended(world, running)).toMatchObject({ how: 'lost' });
    expect(world.life.store.view.sessions.size).toBe(0);
  });

  it('that asks for labels is refused, since there is only one machine', async () => {
    const world = await open();
    await expect(submit(world, 1, { labels: { zone: 'a' } })).rejects.toMatchObject({ at: '[0].labels' });
  });

  it('survives a restart of the server', async () => {
    const world = await open();
    const id = await submit(world, 120);

    world.crash();
    await world.start();
    await world.advance(5 * MINUTE_MS);

    expect(ended(world, id)).toMatchObject({ how: 'exited', exitCode: 0 });
  });
});

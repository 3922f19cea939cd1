import { describe, expect, it } from 'vitest';
import type { Hello } from '#core/agent-link.ts';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { aPool } from '#core/testing/pool.ts';
import { openPoolWorld, type PoolWorld } from '#sim/pool-world.ts';
import { leastWaitMs } from './kept-out.ts';

const OPS = { who: 'ops', from: 'here' };
const manual = aPool(
  { maxAgents: 0 },
  { name: 'gpu', offers: [], agentAuth: 'network', agentNetworks: ['10.0.0.0/8'] },
);
const proof = { peerAddress: '10.0.0.9' };

const hello: Hello = {
  name: 'desk-7',
  pool: 'gpu',
  slots: 1,
  labels: {},
  wire: 'velda',
  version: '',
  hostname: 'desk-7',
  address: '10.0.0.9',
  executions: [],
};
const join = (world: PoolWorld) => world.join(hello, proof);
const drainOf = (world: PoolWorld) => world.life.store.view.workers.get('desk-7')?.drain;

/** A drained Velda agent, whose stream has ended. */
async function drained(world: PoolWorld): Promise<void> {
  const agent = await join(world);
  await world.life.workers.drain('desk-7', OPS);
  await world.advance(SECOND_MS);
  world.life.machines.leave('desk-7', agent.epoch);
  await world.advance(SECOND_MS);
}

/** Calls as one process of Velda's agent does, as early as it may; answers how often it was let in. */
async function callOn(world: PoolWorld, calls: number, share = 0.5): Promise<number> {
  let admitted = 0;
  for (let n = 0; n < calls; n++) {
    await world.advance(share * Math.min(60_000, 500 * 1.5 ** n));
    await join(world).then(
      () => (admitted += 1),
      () => {},
    );
  }
  return admitted;
}

describe('a drained agent of Velda that joined by itself', () => {
  it.each([0.5, 1, 1.5])(
    'is kept out however long the same process calls, waiting %s of its usual time',
    async (share) => {
      const world = await openPoolWorld({ pools: [manual] });
      await drained(world);

      expect(await callOn(world, 40, share)).toBe(0);

      await world.advance(MINUTE_MS);
      await expect(join(world)).rejects.toMatchObject({ kind: 'denied', remedy: expect.stringContaining('release') });
      expect(drainOf(world)).toMatchObject({ why: 'ops asked for it', isKept: true });
    },
  );

  it('is kept out by a server that was restarted', async () => {
    const world = await openPoolWorld({ pools: [manual] });
    await drained(world);
    world.crash();
    await world.start();

    expect(await callOn(world, 10)).toBe(0);
  });

  it.each([0.5, 1.5])('is admitted when its process is started again, waiting %s of its usual time', async (share) => {
    const world = await openPoolWorld({ pools: [manual] });
    await drained(world);
    await callOn(world, 8);
    await world.advance(5 * SECOND_MS);

    expect(await callOn(world, 4, share)).toBeGreaterThan(0);
    expect(drainOf(world)).toBeUndefined();
    expect(world.disk.histories.events.map(({ kind }) => kind)).toContain('worker.released');
  });

  it('is admitted when it is released', async () => {
    const world = await openPoolWorld({ pools: [manual] });
    await drained(world);
    await callOn(world, 8);

    await world.life.workers.release('desk-7', OPS);
    await world.advance(MINUTE_MS);

    await expect(join(world)).resolves.toMatchObject({ id: 'desk-7' });
  });

  it('finishes its sessions first, and may reconnect to report them', async () => {
    const world = await openPoolWorld({ pools: [manual] });
    const first = await join(world);
    await world.life.submit('gpu', 1, 60 * MINUTE_MS);
    await world.advance(SECOND_MS);
    await world.life.workers.drain('desk-7', OPS);
    await world.advance(30 * MINUTE_MS);
    world.life.machines.leave('desk-7', first.epoch);

    await expect(join(world)).resolves.toMatchObject({ id: 'desk-7' });
    expect(drainOf(world)).toMatchObject({ isKept: true });
  });

  it('stays while it runs sessions that the server does not know', async () => {
    const world = await openPoolWorld({ pools: [manual] });
    const executions = [{ session: 'of-another-server', attempt: 1 }];
    const agent = await world.life.machines.join({ ...hello, executions }, proof);
    world.life.machines.noteUnknown('desk-7', ['of-another-server']);
    await world.life.workers.drain('desk-7', OPS);
    await world.advance(MINUTE_MS);
    const still = world.life.store.view.agents.get('desk-7');
    world.life.machines.leave('desk-7', agent.epoch);

    expect(still).toMatchObject({ epoch: agent.epoch, unknown: ['of-another-server'] });
    await expect(world.life.machines.join({ ...hello, executions }, proof)).resolves.toMatchObject({ id: 'desk-7' });
  });

  it('is forgotten when it has not called for a quarter of an hour', async () => {
    const world = await openPoolWorld({ pools: [manual] });
    await drained(world);
    await world.advance(17 * MINUTE_MS);

    expect(world.phases()).toBe('none');
    await expect(join(world)).resolves.toMatchObject({ id: 'desk-7' });
  });
});

it('only what is kept out can be released', async () => {
  const world = await openPoolWorld({ pools: [manual] });
  await world.join({ ...hello, wire: 'muster' }, { ...proof, key: 'k' });
  await world.life.submit('gpu', 1, 60 * MINUTE_MS);
  await world.advance(SECOND_MS);
  await world.life.workers.drain('desk-7', OPS);

  await expect(world.life.workers.release('desk-7', OPS)).rejects.toMatchObject({ kind: 'conflict' });
  await expect(world.life.workers.release('nobody', OPS)).rejects.toMatchObject({ kind: 'missing' });
});

it('the least wait of a refused process grows to half a minute', () => {
  expect([1, 2, 5, 40].map(leastWaitMs)).toEqual([250, 375, 1265.625, 30_000]);
});

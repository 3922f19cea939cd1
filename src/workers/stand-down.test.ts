import { expect, it } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { aPool } from '#core/testing/pool.ts';
import { openPoolWorld } from '#sim/pool-world.ts';

it('takes idle workers along, leaves busy ones, and launches none in their place', async () => {
  const world = await openPoolWorld({ pools: [aPool({ minAgents: 3, maxIdleSlots: 5 })] });
  await world.advance(MINUTE_MS);
  await world.life.submit('gpu', 1, 10 * MINUTE_MS);
  await world.advance(SECOND_MS);
  let isDone = false;

  void world.life.workers.standDown(() => true).then(() => (isDone = true));
  await world.advance(MINUTE_MS);

  expect(isDone).toBe(true);
  expect(world.phases()).toBe('1 busy');
  expect(world.cloud.machines()).toHaveLength(1);
});

it('leaves workers of other offers alone', async () => {
  const world = await openPoolWorld({ pools: [aPool({ minAgents: 2 })] });
  await world.advance(MINUTE_MS);

  await world.life.workers.standDown(() => false);
  await world.advance(MINUTE_MS);

  expect(world.cloud.machines()).toHaveLength(2);
});

it('takes the leaving of agents for no loss: no freeze, no event', async () => {
  const world = await openPoolWorld({ pools: [aPool({ minAgents: 5 })] });
  await world.advance(MINUTE_MS);

  await world.life.workers.standDown(() => false);
  for (const { id, epoch } of [...world.life.store.view.agents.all()]) world.life.machines.leave(id, epoch);
  await world.advance(SECOND_MS);

  expect(world.life.store.view.freezes.size).toBe(0);
  expect(world.disk.histories.events.filter(({ kind }) => kind === 'worker.lost')).toEqual([]);
});

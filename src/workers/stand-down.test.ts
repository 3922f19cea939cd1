import { expect, it } from 'vitest';
import { aPool, openWorld } from '#sim/part/world.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;

it('takes idle workers along, leaves busy ones, and launches none in their place', async () => {
  const world = await openWorld({ pools: [aPool({ minAgents: 3, maxIdleSlots: 5 })] });
  await world.advance(MINUTE_MS);
  await world.life.sessions.submit('id-gpu', 1, 10 * MINUTE_MS);
  await world.advance(SECOND_MS);
  let isDone = false;

  void world.life.workers.standDown(() => true).then(() => (isDone = true));
  await world.advance(MINUTE_MS);

  expect(isDone).toBe(true);
  expect(world.phases()).toBe('1 busy');
  expect(world.cloud.machines()).toHaveLength(1);
});

it('leaves workers of other offers alone', async () => {
  const world = await openWorld({ pools: [aPool({ minAgents: 2 })] });
  await world.advance(MINUTE_MS);

  await world.life.workers.standDown(() => false);
  await world.advance(MINUTE_MS);

  expect(world.cloud.machines()).toHaveLength(2);
});

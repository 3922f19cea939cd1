import { expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { aPool } from '#core/testing/pool.ts';
import { openPoolWorld, type PoolWorld } from '#sim/pool-world.ts';

const slotsInPlan = ({ life }: PoolWorld) => life.workers.plan('id-gpu').figures.slotsPerAgent;
const POOL = aPool({ slotsPerAgent: 3, minIdleSlots: 1, maxIdleSlots: 3, maxAgents: 20, idleDecayMs: HOUR_MS });

it('a plan counts the slots that agents of the pool report, once one has joined', async () => {
  const world = await openPoolWorld({ pools: [POOL], slots: 1 });
  const before = slotsInPlan(world);
  await world.advance(MINUTE_MS);
  const after = slotsInPlan(world);

  await world.life.submit('gpu', 6, HOUR_MS);
  await world.advance(SECOND_MS);

  expect([before, after]).toEqual([3, 1]);
  expect(world.life.store.view.workers.size).toBe(7);
});

it('a plan counts them also after a restart, by the agents that reconnect', async () => {
  const world = await openPoolWorld({ pools: [POOL], slots: 1 });
  await world.advance(MINUTE_MS);
  world.crash();
  await world.start();
  await world.advance(MINUTE_MS);

  expect(slotsInPlan(world)).toBe(1);
});

it('a plan counts the slots of a changed definition until an agent that was launched for it has joined', async () => {
  const world = await openPoolWorld({ pools: [POOL], slots: 1 });
  await world.advance(MINUTE_MS);

  await world.set({
    ...POOL,
    revision: 2,
    spec: { ...POOL.spec, scaling: { ...POOL.spec.scaling, slotsPerAgent: 2 } },
  });
  await world.advance(MINUTE_MS);
  world.agents.cutOff([...world.agents.all.keys()], true);
  await world.advance(SECOND_MS);
  world.agents.cutOff([...world.agents.all.keys()], false);
  await world.advance(SECOND_MS);
  const changed = slotsInPlan(world);
  await world.life.submit('gpu', 4, HOUR_MS);
  await world.advance(MINUTE_MS);

  expect(changed).toBe(2);
  expect(slotsInPlan(world)).toBe(1);
});

it('an agent that drains, and so offers no slot, says nothing about the slots of its pool', async () => {
  const world = await openPoolWorld({ pools: [POOL], slots: 2 });
  await world.advance(MINUTE_MS);
  const [agent] = world.agents.all.values();
  if (!agent) throw new Error('no agent');
  await world.life.machines.join({ ...agent.hello(), slots: 0 }, agent.proof());

  expect(slotsInPlan(world)).toBe(2);
});

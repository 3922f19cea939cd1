import { expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import type { WaitTarget } from '#core/pool.ts';
import { aPool } from '#core/testing/pool.ts';
import { openPoolWorld, type PoolWorld } from '#sim/pool-world.ts';
import foresight from './index.ts';
import { answerQuestion } from './model-question.ts';
import type { ModelThread } from './model-turns.ts';
import { replayDecision } from './replay.ts';

/** As the thread answers, but at once: threads know no virtual clock. */
const model: ModelThread = {
  run: async (prepare) => answerQuestion(await prepare(new AbortController().signal)),
  close: async () => {},
};
const TARGET: WaitTarget = { p95Ms: 5 * SECOND_MS, maxIdleSlots: 4 };
const targeted = (waitTarget?: WaitTarget) => aPool({ maxAgents: 20, maxIdleSlots: 2 }, { waitTarget });

const openTargeted = () => openPoolWorld({ pools: [targeted(TARGET)], parts: { features: [foresight], model } });
const chosen = ({ life }: PoolWorld) => life.store.view.chosenIdle.get('id-gpu');

/** A session each minute, so long. */
async function busy(world: PoolWorld, minutes: number): Promise<void> {
  for (let minute = 0; minute < minutes; minute += 1) {
    await world.life.submit('gpu', 1, 90 * SECOND_MS);
    await world.advance(MINUTE_MS);
  }
}

it('a pool without demand keeps nothing idle for its wait target', async () => {
  const world = await openTargeted();
  await world.advance(HOUR_MS);

  expect(chosen(world)).toBeUndefined();
  expect(world.phases('id-gpu')).toBe('none');
});

it('a pool with demand keeps so many slots idle that sessions start in time, and says what set that', async () => {
  const world = await openTargeted();
  await busy(world, 30);
  const { idleSlots = 0 } = chosen(world) ?? {};
  const { why } = world.life.workers.plan('id-gpu');

  expect(idleSlots).toBeGreaterThan(0);
  expect(idleSlots).toBeLessThanOrEqual(4);
  expect(chosen(world)?.why).toMatch(/^wait_target p95 5s, from \d+ sessions$/);
  expect(why).toContain(`min_idle ${idleSlots}`);
  const [pool] = world.life.store.view.pools.all();
  expect(pool && world.life.workers.limits(pool)).toMatchObject({
    scaling: { minIdleSlots: idleSlots },
    setBy: { minIdleSlots: chosen(world)?.why },
  });
});

it('decisions under a wait target are computed again from their inputs alone', async () => {
  const world = await openTargeted();
  await busy(world, 30);
  const { decisions } = world.disk.histories;

  expect(decisions.some(({ inputs }) => inputs?.includes('wait_target p95 5s'))).toBe(true);
  expect(decisions.filter((row) => replayDecision(row).is !== 'same')).toEqual([]);
});

it('the choice outlives a restart, and goes with the target', async () => {
  const world = await openTargeted();
  await busy(world, 30);
  const before = chosen(world);
  world.crash();
  await world.start();
  await world.advance(MINUTE_MS);
  expect(chosen(world)).toEqual(before);

  await world.set({ ...targeted(), revision: 2 });
  await world.advance(MINUTE_MS);
  expect(chosen(world)).toBeUndefined();
});

it('the idle slots are taken back one after the other, once an hour had no need of them', async () => {
  const world = await openTargeted();
  await busy(world, 30);
  const { idleSlots: before = 0 } = chosen(world) ?? {};
  await world.advance(HOUR_MS);
  expect(chosen(world)?.idleSlots).toBe(before);
  await world.advance((2 + before / 6) * HOUR_MS);

  expect(chosen(world)?.idleSlots ?? 0).toBe(0);
  expect(world.phases('id-gpu')).toBe('none');
});

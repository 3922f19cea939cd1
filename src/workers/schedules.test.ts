import { expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import type { Schedule } from '#core/schedule.ts';
import { aPool } from '#core/testing/pool.ts';
import { openPoolWorld, type PoolWorld } from '#sim/pool-world.ts';

const timeAfter = (ms: number): string => new Date(ms).toISOString().slice(11, 16);

/** A window from an hour after the start of a world to two hours after it. */
async function opened(limits: Partial<Schedule>, scaling = {}) {
  const world = await openPoolWorld({ pools: [] });
  const startMs = Math.ceil(world.clock.now() / HOUR_MS) * HOUR_MS;
  await world.advance(startMs - world.clock.now());
  const from = timeAfter(startMs + HOUR_MS);
  const schedule = { name: 'rush', from, to: timeAfter(startMs + 2 * HOUR_MS), timezone: 'UTC', ...limits };
  await world.set(aPool({ idleDecayMs: MINUTE_MS, ...scaling }, { schedules: [schedule] }));
  return world;
}

const made = ({ cloud }: PoolWorld): number => cloud.calls.filter(({ name }) => name === 'create').length;

it('the workers of a window are idle when it begins, and go when it has ended', async () => {
  const world = await opened({ minIdleAgents: 3 });

  await world.advance(50 * MINUTE_MS);
  expect(world.phases('id-gpu')).toBe('none');
  await world.advance(10 * MINUTE_MS);
  expect(world.phases('id-gpu')).toBe('3 idle');
  await world.advance(HOUR_MS - MINUTE_MS);
  expect(world.phases('id-gpu')).toBe('3 idle');
  await world.advance(10 * MINUTE_MS);
  expect(world.phases('id-gpu')).toBe('none');
});

it('a pool launches for a window as much earlier as its machines took to be ready', async () => {
  const world = await opened({ minIdleAgents: 3 });
  await world.life.submit('gpu', 1, MINUTE_MS);
  await world.advance(59 * MINUTE_MS);
  const before = world.phases('id-gpu');
  await world.advance(30 * SECOND_MS);

  // A machine of this world boots in 20 s.
  expect(before).toBe('none');
  expect(made(world)).toBe(1);
  await world.advance(30 * SECOND_MS);
  expect(world.phases('id-gpu')).toBe('3 idle');
});

it('what machines took to be ready is known after a restart too', async () => {
  const world = await opened({ minIdleAgents: 3 });
  await world.life.submit('gpu', 1, MINUTE_MS);
  await world.advance(30 * MINUTE_MS);
  world.crash();
  await world.start();
  await world.advance(29 * MINUTE_MS);

  expect(world.phases('id-gpu')).toBe('none');
  await world.advance(MINUTE_MS);
  expect(world.phases('id-gpu')).toBe('3 idle');
});

it('a window that changes nothing launches and removes nothing at its edges', async () => {
  const world = await opened({ minIdleAgents: 2 }, { minIdleSlots: 2, maxIdleSlots: 3 });
  await world.advance(30 * MINUTE_MS);
  const before = world.cloud.calls.length;
  const acted = () => world.cloud.calls.filter(({ name }) => name === 'create' || name === 'delete').length;
  const acts = acted();
  await world.advance(3 * HOUR_MS);

  expect(world.cloud.calls.length).toBeGreaterThan(before);
  expect(acted()).toBe(acts);
});

it('why names the window that sets a limit', async () => {
  const world = await opened({ minIdleAgents: 3, maxAgents: 2 });
  await world.advance(90 * MINUTE_MS);
  const { why } = world.life.workers.plan('id-gpu');

  expect(why).toContain('below min_idle 3 (schedule rush)');
  expect(why).toContain('at max_agents 2 (schedule rush)');
});

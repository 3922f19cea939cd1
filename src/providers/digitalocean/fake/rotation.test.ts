import { expect, it } from 'vitest';
import { MINUTE_MS } from '#core/clock.ts';
import { documentOf } from '#sim/slice/cloud.ts';
import { openSliceWorld } from '#sim/slice/world.ts';
import type { FakeDigitalOcean } from './cloud.ts';
import { DROPLET_SLICE, TOKEN } from './testing.ts';

it('a rotated token replaces no machine, and the old one is not used again', async () => {
  const world = await openSliceWorld(DROPLET_SLICE);
  const fake = world.cloud.fake as FakeDigitalOcean;
  const write = (more: object) =>
    void world.documents.write('pools', 'gpu-pool', documentOf(DROPLET_SLICE, 'gpu-pool', { backend: { ...more } }));
  write({});
  await world.clock.advance(2 * MINUTE_MS);
  const before = world.machines().map(({ id }) => id);
  write({ api_token: 'dop_v1_new' });
  await world.clock.advance(5 * MINUTE_MS);
  const after = world.machines().map(({ id }) => id);
  fake.revoked.add(TOKEN);
  const calls = fake.calls.length;
  await world.life.submit('gpu-pool', 2, MINUTE_MS);
  await world.clock.advance(10 * MINUTE_MS);

  expect(before).toHaveLength(1);
  expect(after).toEqual(before);
  expect(new Set(fake.calls.slice(calls).map(({ token }) => token))).toEqual(new Set(['dop_v1_new']));
  expect([...world.agents.runs.values()]).toEqual([1, 1]);
  expect(world.life.workers.trouble(world.poolId('gpu-pool') ?? '')).toBeUndefined();
});

import { expect, it } from 'vitest';
import { MINUTE_MS } from '#core/clock.ts';
import { documentOf } from '#sim/slice/cloud.ts';
import { openSliceWorld } from '#sim/slice/world.ts';
import type { FakeNebius } from './cloud.ts';
import { NEBIUS_SLICE, TOKEN } from './testing.ts';

it('a rotated token replaces nobody, and no machine is listed, made or deleted by the old one', async () => {
  const world = await openSliceWorld(NEBIUS_SLICE);
  const fake = world.cloud.fake as FakeNebius;
  const write = (more: object) =>
    void world.documents.write('pools', 'gpu-pool', documentOf(NEBIUS_SLICE, 'gpu-pool', { backend: { ...more } }));
  write({});
  await world.clock.advance(2 * MINUTE_MS);
  const before = world.machines().map(({ id }) => id);
  write({ iam_token: 'ne1new' });
  await world.clock.advance(5 * MINUTE_MS);
  fake.tokens.revoked.add(TOKEN);
  const after = world.machines().map(({ id }) => id);
  const calls = fake.calls.length;
  await world.life.submit('gpu-pool', 2, MINUTE_MS);
  await world.clock.advance(10 * MINUTE_MS);

  expect(before).toHaveLength(1);
  expect(after).toEqual(before);
  // The newest image is asked for each offer that is kept: the old one as long as machines of its shape live.
  const used = fake.calls.slice(calls).filter(({ action }) => action !== 'image');
  expect(new Set(used.map(({ token }) => token))).toEqual(new Set(['ne1new']));
  expect([...world.agents.runs.values()]).toEqual([1, 1]);
  expect(world.life.workers.trouble(world.poolId('gpu-pool') ?? '')).toBeUndefined();
});

import { expect, it } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { documentOf } from '#sim/slice/cloud.ts';
import { openSliceWorld } from '#sim/slice/world.ts';
import type { FakeMithril } from './cloud.ts';
import { MITHRIL_SLICE } from './testing.ts';

it('a preemption that Mithril announces drains the worker, and another is made in its place before it goes', async () => {
  const world = await openSliceWorld(MITHRIL_SLICE);
  const fake = world.cloud.fake as FakeMithril;
  world.documents.write('pools', 'gpu-pool', documentOf(MITHRIL_SLICE, 'gpu-pool'));
  await world.clock.advance(2 * MINUTE_MS);
  const [first] = fake.bids;
  const [before] = world.machines();
  await world.life.submit('gpu-pool', 1, 3 * MINUTE_MS);
  await world.clock.advance(10 * SECOND_MS);
  if (first) fake.preempt(first);
  await world.clock.advance(90 * SECOND_MS);
  const { view } = world.life.store;
  const worker = view.workers.get(before?.name ?? '');
  const noticed = { why: worker?.drain?.why, isTaken: worker?.drain?.isTaken, machines: world.machines().length };
  await world.clock.advance(10 * MINUTE_MS);

  expect(noticed).toEqual({ why: 'the cloud reclaims its machine', isTaken: true, machines: 2 });
  expect([...world.agents.runs.values()]).toEqual([1]);
  expect(view.workers.get(before?.name ?? '')).toBeUndefined();
  expect(world.machines().map(({ name }) => name)).not.toContain(before?.name);
  expect(fake.bids[0]?.timeline.at(-1)?.state).toBe('Terminated');
});

it('a bid that was preempted without being seen is ended, and does not boot again under the old name', async () => {
  const world = await openSliceWorld(MITHRIL_SLICE);
  const fake = world.cloud.fake as FakeMithril;
  world.documents.write('pools', 'gpu-pool', documentOf(MITHRIL_SLICE, 'gpu-pool'));
  await world.clock.advance(2 * MINUTE_MS);
  const [first] = fake.bids;
  const atMs = world.clock.now();
  if (first) first.timeline = [...first.timeline, { atMs, state: 'preempted' }];
  if (first) fake.changed(first);
  await world.clock.advance(5 * MINUTE_MS);

  expect(first?.timeline.at(-1)?.state).toBe('Terminated');
  expect(world.machines()).toHaveLength(1);
});

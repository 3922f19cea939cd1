// What a container has is in its environment alone: what becomes of the next container.
import { expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '#core/clock.ts';
import { documentOf } from '#sim/slice/cloud.ts';
import type { SliceWorld } from '#sim/slice/world.ts';
import {
  type ComputerScene,
  computersIn,
  create,
  expectRemoved,
  machinesOf,
  openScene,
  statusIn,
} from '../../../conformance/computers-world.ts';
import type { FakeGcp } from '../fake/fake-gcp.ts';
import { type FakeService, isLiving } from '../fake/run/service.ts';
import { replaceContainer } from '../fake/run/state.ts';
import { fakesOf, RUN_SLICE } from '../fake/run/testing/slices.ts';
import { CLOUD_RUN_COMPUTERS } from './testing.ts';

const runOf = ({ cloud }: SliceWorld) => (fakesOf.get(cloud) as FakeGcp).world.run;
const living = (world: SliceWorld): readonly FakeService[] =>
  runOf(world).services.filter((one) => isLiving(one, world.clock.now()));

/** Google ends the container, its agent with it, and starts another from the same environment. */
function replace(world: SliceWorld): void {
  const [service] = living(world);
  if (!service) throw new Error('There is no service.');
  world.agents.end(service.uid, true);
  replaceContainer(runOf(world), service);
}

const whyOf = (scene: ComputerScene): string => computersIn(scene).find('dev')?.why ?? '';

it('a computer whose container is replaced stays one machine, says that its agent is away, and can be removed', async () => {
  const scene = await openScene(CLOUD_RUN_COMPUTERS);
  const { world } = scene;
  await create(scene, 'dev');
  await world.clock.advance(MINUTE_MS);
  const before = machinesOf(scene).map(({ name }) => name);
  replace(world);
  await world.clock.advance(10 * MINUTE_MS);

  expect(before).toHaveLength(1);
  expect(machinesOf(scene).map(({ name }) => name)).toEqual(before);
  expect([statusIn(scene, 'dev'), world.life.store.view.agents.size]).toEqual(['running', 0]);
  expect(whyOf(scene)).toMatch(/^Its agent is away since /);
  await expectRemoved(scene, 'dev', 2 * MINUTE_MS);
});

it('a worker whose container is replaced is replaced by its pool when its lease is over', async () => {
  const { world } = await openScene(CLOUD_RUN_COMPUTERS);
  world.documents.write('pools', 'gpu-pool', documentOf(RUN_SLICE, 'gpu-pool'));
  await world.clock.advance(2 * MINUTE_MS);
  const [before] = living(world);
  replace(world);
  await world.clock.advance(HOUR_MS);
  const after = living(world);

  expect(before).toBeDefined();
  expect(after.map(({ id }) => id)).toEqual([expect.not.stringMatching(before?.id ?? '')]);
  expect(world.life.store.view.agents.get(after[0]?.id ?? '')).toBeDefined();
});

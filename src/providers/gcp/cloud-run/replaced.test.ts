// What a container has is in its environment alone: what that is worth later, and what becomes of the next container.
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
import { PROJECT } from '../fake/compute/seed-data.ts';
import type { FakeGcp } from '../fake/fake-gcp.ts';
import { type FakeService, isLiving } from '../fake/run/service.ts';
import { replaceContainer } from '../fake/run/state.ts';
import { IMAGE } from '../fake/run/testing/scene.ts';
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

it('the launch token in the environment opens nothing 15 minutes after the service was made', async () => {
  const options = { project_id: PROJECT, image: IMAGE, timeout: 3_600 };
  const scene = await openScene(
    { ...CLOUD_RUN_COMPUTERS, request: () => ({ platform: 'gcp_cloud_run', options }) },
    { bootMs: 16 * MINUTE_MS },
  );
  const { world } = scene;
  await create(scene, 'dev');
  await world.clock.advance(20 * MINUTE_MS);
  const [machine] = machinesOf(scene);
  const token = /mlt_[\w-]+/.exec(machine?.scripts().join() ?? '')?.[0] ?? '';
  const { name = '' } = machine ?? {};
  const hello = { name, pool: 'dev', slots: 1, labels: {}, wire: 'muster', version: '1', hostname: name } as const;
  const joined = world.life.machines.join(
    { ...hello, address: '10.9.9.9', executions: [] },
    { peerAddress: '10.9.9.9', token, key: 'a key' },
  );

  expect(token).not.toBe('');
  await expect(joined).rejects.toMatchObject({ kind: 'denied', message: expect.stringContaining('has expired') });
  expect([statusIn(scene, 'dev'), whyOf(scene)]).toEqual([
    'starting',
    'Its machine runs; its agent has not joined yet.',
  ]);
});

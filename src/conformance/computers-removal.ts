// A computer can be removed at every moment, and what happens to its machine outside of us is told.
import { expect } from 'vitest';
import { MINUTE_MS } from '#core/clock.ts';
import type { CallFailure } from '#fakes/failure-rules.ts';
import type { SliceMachine } from '#sim/slice/cloud.ts';
import {
  type ComputerLaw,
  type ComputerScene,
  type ComputerSuite,
  computersIn,
  create,
  everMade,
  expectNothingHeld,
  expectNothingLeft,
  expectRemoved,
  insistOnRemoval,
  machinesOf,
  openScene,
  remove,
  statusIn,
} from './computers-world.ts';
import { taken } from './slice-story.ts';

/** From before its launch until it runs. */
const MOMENTS_MS = [0, 1, 20, 100, 500, 1_000, 2_000, 3_000, 5_000, 8_000, 12_000, 20_000, 60_000];
const AGAIN_AFTER_MS = [0, 300, 3_000];

async function running(harness: ComputerSuite): Promise<ComputerScene & { readonly machine: SliceMachine }> {
  const scene = await openScene(harness);
  await create(scene, 'dev');
  await scene.world.clock.advance(MINUTE_MS);
  const [machine] = machinesOf(scene);
  expect([statusIn(scene, 'dev'), machine !== undefined], 'before').toEqual(['running', true]);
  return { ...scene, machine: machine as SliceMachine };
}

async function removedAt(harness: ComputerSuite, ms: number, isDropped: boolean): Promise<void> {
  const scene = await openScene(harness);
  const { world } = scene;
  await create(scene, 'dev');
  await world.clock.advance(ms);
  await remove(scene, 'dev');
  for (const afterMs of AGAIN_AFTER_MS) {
    await world.clock.advance(afterMs);
    if (statusIn(scene, 'dev') !== 'none') await remove(scene, 'dev');
    expect(['stopping', 'none'], `removed after ${ms} ms`).toContain(statusIn(scene, 'dev'));
  }
  if (isDropped) world.restart();
  await world.clock.advance(2 * MINUTE_MS);

  expect(everMade(scene).length, `removed after ${ms} ms: machines ever made`).toBeLessThanOrEqual(1);
  expectNothingLeft(scene);
}

export const REMOVAL_LAWS: readonly ComputerLaw[] = [
  {
    id: 'removal',
    name: 'a computer that is removed at any moment of its start, again and again, leaves nothing',
    async check(_stage, harness) {
      for (const ms of taken({ ...harness, shortStride: 2 }, MOMENTS_MS)) await removedAt(harness, ms, false);
    },
  },
  {
    id: 'removal with a restart',
    name: 'a computer that is removed at any moment of its start leaves nothing, though the server dies then',
    async check(_stage, harness) {
      for (const ms of taken({ ...harness, shortStride: 5 }, MOMENTS_MS)) await removedAt(harness, ms, true);
    },
  },
  {
    id: 'stubborn cloud',
    name: 'a computer is deleted until its cloud agrees, however it refuses',
    async check(_stage, harness) {
      const kinds: readonly CallFailure[] = [{ kind: 'throttle' }, harness.denied, { kind: 'garbage' }];
      for (const what of kinds) {
        const scene = await running(harness);
        const { world } = scene;
        const ends = harness.removals.map((action) => world.cloud.fake.failureRules.add({ action, what, times: 1e9 }));
        await remove(scene, 'dev');
        await world.clock.advance(2 * MINUTE_MS);
        expect(statusIn(scene, 'dev'), what.kind).toBe('stopping');

        for (const end of ends) end();
        await world.clock.advance(4 * MINUTE_MS);
        expectNothingLeft(scene);
      }
    },
  },
  {
    id: 'vanished',
    name: 'a computer whose machine vanishes says so, and is never replaced',
    async check(_stage, harness) {
      const scene = await running(harness);
      await harness.vanish(scene.world.cloud, scene.machine);
      await scene.world.clock.advance(5 * MINUTE_MS);

      expect(statusIn(scene, 'dev')).toBe('error');
      expect(computersIn(scene).find('dev')?.why).toMatch(/gone|terminated|ended|deleted/i);
      expect(everMade(scene)).toHaveLength(1);
      expectNothingHeld(scene);
      await expectRemoved(scene, 'dev', MINUTE_MS);
    },
  },
  {
    id: 'stopped outside',
    name: 'a computer whose machine somebody stopped is shown as stopped, and is removed like any other',
    async check(_stage, harness) {
      if (!harness.stop) return;
      const scene = await running(harness);
      await harness.stop(scene.world.cloud, scene.machine);
      await scene.world.clock.advance(3 * MINUTE_MS);

      expect(statusIn(scene, 'dev')).toBe('stopped');
      expect(computersIn(scene).find('dev')?.why).toContain('stopped outside');
      await insistOnRemoval(scene, 'dev');
      await scene.world.clock.advance(2 * MINUTE_MS);
      expectNothingLeft(scene);
    },
  },
];

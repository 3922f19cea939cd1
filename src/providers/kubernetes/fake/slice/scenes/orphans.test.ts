import { expect, it } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import type { KubeObject } from '../../objects/object.ts';
import { aNamed, type KubeWorld, openKubeWorld } from './testing.ts';

const COPY = { resource: 'pods', namespace: 'default', name: 'copy' };

/** A pod that someone made of one of ours, with all of its labels and annotations. */
function copyPod(world: KubeWorld, name: string): void {
  const { metadata, spec } = world.others.get({ ...COPY, name }) as KubeObject & { readonly spec: object };
  const { labels, annotations } = metadata;
  world.others.create('pods', {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: COPY.name, namespace: COPY.namespace, labels, annotations },
    spec: { ...spec, nodeName: undefined },
  });
}

const isThere = (world: KubeWorld): boolean => {
  const pod = world.others.get(COPY);
  return pod !== undefined && pod.metadata.deletionTimestamp === undefined;
};

async function withCopy(killUnknownAfterSecond: number): Promise<KubeWorld> {
  const world = await openKubeWorld();
  world.apply('gpu', { scaler: { kill_unknown_after: `${killUnknownAfterSecond}s` } });
  await world.clock.advance(MINUTE_MS);
  copyPod(world, world.pods('gpu')[0] ?? '');
  return world;
}

it('a pod with our marks and without a record is deleted after killUnknownAfterSecond, not before', async () => {
  const world = await withCopy(300);
  const ours = world.pods('gpu');

  await world.clock.advance(290 * SECOND_MS);
  const before = isThere(world);
  await world.clock.advance(2 * MINUTE_MS);

  expect([before, isThere(world)]).toEqual([true, false]);
  expect(world.pods('gpu')).toEqual(ours);
});

it('a pod with our marks and without a record stays where killUnknownAfterSecond is 0, until its AgentPool is deleted', async () => {
  const world = await withCopy(0);

  await world.clock.advance(120 * MINUTE_MS);
  const before = isThere(world);
  world.others.remove(aNamed('gpu'));
  await world.clock.advance(5 * MINUTE_MS);

  expect([before, isThere(world)]).toEqual([true, false]);
  expect(world.pool('gpu')).toBeUndefined();
});

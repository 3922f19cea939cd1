import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../objects/object.ts';
import { aPod, openScene, PODS, type Scene } from '../testing.ts';
import { conditionOf } from './status.ts';

async function running(): Promise<Scene> {
  const scene = openScene({ nodes: [{ name: 'n' }] });
  await scene.post(PODS, aPod('p'));
  await scene.clock.advance(5_000);
  return scene;
}

const podOf = ({ fake }: Scene): KubeObject | undefined => fake.object('pods', 'default', 'p');

describe('a pod', () => {
  test('that the kubelet evicts has failed, and says why', async () => {
    const scene = await running();

    scene.fake.disruptions.evict('default', 'p');
    await scene.clock.advance(1_000);

    expect(podOf(scene)?.status).toMatchObject({ phase: 'Failed', reason: 'Evicted' });
    expect(conditionOf(podOf(scene) as KubeObject, 'DisruptionTarget')).toMatchObject({
      reason: 'TerminationByKubelet',
    });
  });

  test('that makes room for another is marked, and ends with its grace', async () => {
    const scene = await running();

    scene.fake.disruptions.preempt('default', 'p');
    expect(conditionOf(podOf(scene) as KubeObject, 'DisruptionTarget')).toMatchObject({
      reason: 'PreemptionByScheduler',
    });
    expect(podOf(scene)?.metadata.deletionTimestamp).toBeDefined();
    await scene.clock.advance(5_000);

    expect(podOf(scene)).toBeUndefined();
  });

  test('can be evicted through the API', async () => {
    const scene = await running();

    const { status } = await scene.post(`${PODS}/p/eviction`, {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name: 'p' },
    });
    await scene.clock.advance(5_000);

    expect(status).toBe(201);
    expect(podOf(scene)).toBeUndefined();
  });
});

describe('the pods of a node that dies', () => {
  test('are not ready once the node is unknown, are deleted later, and cannot end', async () => {
    const scene = await running();

    scene.fake.disruptions.killNode('n');
    await scene.clock.advance(41_000);
    expect(scene.fake.object('nodes', undefined, 'n')?.status?.conditions).toMatchObject([
      { type: 'Ready', status: 'Unknown' },
    ]);
    expect(conditionOf(podOf(scene) as KubeObject, 'Ready')).toMatchObject({ status: 'False' });
    await scene.clock.advance(3_600_000);

    expect(podOf(scene)?.metadata.deletionTimestamp).toBeDefined();
    expect(podOf(scene)?.status?.phase).toBe('Running');
  });

  test('go when they are deleted without grace', async () => {
    const scene = await running();
    scene.fake.disruptions.killNode('n');

    await scene.remove(`${PODS}/p`);
    await scene.clock.advance(60_000);
    expect(podOf(scene)).toBeDefined();
    await scene.remove(`${PODS}/p?gracePeriodSeconds=0`);

    expect(podOf(scene)).toBeUndefined();
  });

  test('are ready again when it comes back in time', async () => {
    const scene = await running();

    scene.fake.disruptions.killNode('n');
    await scene.clock.advance(60_000);
    scene.fake.disruptions.reviveNode('n');
    await scene.clock.advance(3_600_000);

    expect(conditionOf(podOf(scene) as KubeObject, 'Ready')).toMatchObject({ status: 'True' });
    expect(podOf(scene)?.metadata.deletionTimestamp).toBeUndefined();
  });
});

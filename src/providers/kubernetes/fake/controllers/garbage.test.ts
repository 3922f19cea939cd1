import { expect, test } from 'vitest';
import { aConfigMap, CONFIG_MAPS, openScene, type Scene } from '../testing.ts';

async function ownedBy(scene: Scene, blockOwnerDeletion: boolean): Promise<void> {
  const { body } = await scene.post(CONFIG_MAPS, aConfigMap('owner'));
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: body.metadata.uid, blockOwnerDeletion };
  const held = { name: 'held', ownerReferences: [owner], finalizers: ['x.io/a'] };
  await scene.post(CONFIG_MAPS, { metadata: held });
}

const there = (scene: Scene, name: string): boolean => scene.fake.object('configmaps', 'default', name) !== undefined;

test('in the background the owner goes first, and what it owned follows', async () => {
  const scene = openScene();
  await ownedBy(scene, true);

  await scene.remove(`${CONFIG_MAPS}/owner`, { propagationPolicy: 'Background' });
  expect(there(scene, 'owner')).toBe(false);
  await scene.clock.advance(1_000);

  expect(scene.fake.object('configmaps', 'default', 'held')?.metadata.deletionTimestamp).toBeDefined();
});

test('in the foreground the owner waits for those that block it', async () => {
  const scene = openScene();
  await ownedBy(scene, true);

  const { body } = await scene.remove(`${CONFIG_MAPS}/owner?propagationPolicy=Foreground`);
  await scene.clock.advance(60_000);
  expect(body.metadata.finalizers).toEqual(['foregroundDeletion']);
  expect(there(scene, 'owner')).toBe(true);
  await scene.patch(`${CONFIG_MAPS}/held`, { metadata: { finalizers: [] } });
  await scene.clock.advance(1_000);

  expect([there(scene, 'held'), there(scene, 'owner')]).toEqual([false, false]);
});

test('in the foreground an owner that nothing blocks goes by itself', async () => {
  const scene = openScene();
  await scene.post(CONFIG_MAPS, aConfigMap('owner'));

  await scene.remove(`${CONFIG_MAPS}/owner?propagationPolicy=Foreground`);
  await scene.clock.advance(1_000);

  expect(there(scene, 'owner')).toBe(false);
});

test('orphans are set free', async () => {
  const scene = openScene();
  await ownedBy(scene, true);

  await scene.remove(`${CONFIG_MAPS}/owner?propagationPolicy=Orphan`);
  await scene.clock.advance(1_000);

  expect(there(scene, 'owner')).toBe(false);
  expect(scene.fake.object('configmaps', 'default', 'held')?.metadata).toMatchObject({ ownerReferences: [] });
});

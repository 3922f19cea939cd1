import { expect, it } from 'vitest';
import { aBatch, createdBy } from '../../../conformance/scene.ts';
import { computeOf, contextIn, openBackend, openScene } from '../fake/testing.ts';

it.each([
  ['Standard_D4s_v5', 'server'],
  ['Standard_D4ps_v5', 'server-arm64'],
  ['Standard_A2_v2', 'server-gen1'],
])('a machine of the size %s boots the standard image in the form %s', async (vmSize, sku) => {
  const scene = openScene();
  const backend = await openBackend(scene, { vmSize });
  const [outcome] = await createdBy(scene, backend, aBatch(1));
  const [vm] = computeOf(scene).vms;

  expect(outcome?.fault).toBeUndefined();
  expect(JSON.stringify(vm?.properties)).toContain(`"sku":"${sku}"`);
});

it('an image that the pool names is used as it is, and no sizes are listed for it', async () => {
  const scene = openScene();
  const backend = await openBackend(scene, { image: 'Canonical:ubuntu-24_04-lts:minimal:latest' }, contextIn(scene));
  await createdBy(scene, backend, aBatch(1));

  expect(scene.fake.calls.filter(({ action }) => action === 'management.skus')).toEqual([]);
  expect(JSON.stringify(computeOf(scene).vms[0]?.properties)).toContain('"sku":"minimal"');
});

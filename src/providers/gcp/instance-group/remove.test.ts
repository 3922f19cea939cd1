import { expect, it } from 'vitest';
import { going } from '#core/testing/going.ts';
import { aBatch, createdBy } from '../../../conformance/scene.ts';
import { openComputeScene } from '../fake/compute/testing/scene.ts';

async function withMachines() {
  const scene = openComputeScene();
  const backend = await scene.openGroup();
  await createdBy(scene, backend, aBatch(2));
  await scene.clock.advance(60_000);
  return { scene, backend, machines: await scene.during(backend.list(going())) };
}

it('a listing of an instance group asks for whole answers, since a part may lack the marks', async () => {
  const { scene, machines } = await withMachines();
  const listings = scene.fake.calls.filter(
    ({ action }) => action === 'compute.instanceGroupManagers.listManagedInstances',
  );

  expect(machines).toHaveLength(2);
  expect(listings.length).toBeGreaterThan(0);
  expect(listings.filter(({ query }) => query.fields !== undefined)).toEqual([]);
});

it('an instance that runs outside its group is not called gone', async () => {
  const { scene, backend, machines } = await withMachines();
  scene.group.managed.length = 0;

  const outcomes = await scene.during(backend.delete(machines, going()));

  expect(outcomes.map(({ fault }) => fault?.kind)).toEqual(['invalid', 'invalid']);
  expect(outcomes[0]?.fault?.message).toContain('is not a member of the group');
});

// What is true of node pools of Crusoe beyond the laws.
import { expect, it } from 'vitest';
import { MINUTE_MS } from '#core/clock.ts';
import type { NodeGroup } from '#core/node-group.ts';
import { going } from '#core/testing/going.ts';
import { isLiving } from '../fake/pool.ts';
import { type CrusoeScene, openCrusoeScene, TEMPLATES } from '../fake/testing.ts';

async function openPool(count: number, behaviour: Parameters<typeof openCrusoeScene>[0] = {}) {
  const scene = openCrusoeScene(behaviour);
  const pool = scene.fake.addPool('h100', count);
  await scene.clock.advance(MINUTE_MS);
  return { scene, pool, group: await found(scene), living: () => livingIn(scene, pool) };
}

async function found({ during, open }: CrusoeScene, name = 'h100'): Promise<NodeGroup> {
  const groups = await during(open());
  return (await during(groups.find({ names: [name], providerIds: [] }, going()))).get(name) as NodeGroup;
}

const livingIn = ({ clock }: CrusoeScene, { vms }: { readonly vms: readonly Parameters<typeof isLiving>[0][] }) =>
  vms.filter((vm) => isLiving(vm, clock.now())).length;

const growth = (count: number, to: number) => ({ id: 'g1', count, to });

it('sends labels, taints, storage and reservation back with every count, without those of Crusoe itself', async () => {
  const { scene, pool, group } = await openPool(1);
  const before = pool.settings;
  await scene.during(group.grow(growth(1, 2), going()));
  const { instances } = await scene.during(group.describe(going()));
  await scene.during(group.remove([instances[0]?.id ?? ''], going()));

  expect(scene.fake.countOf('crusoe.pools.patch')).toBe(2);
  expect(pool.settings).toEqual(before);
});

it('lowers the count before it deletes: no machine comes in place of one that goes', async () => {
  const { scene, pool, group } = await openPool(3);
  const { instances } = await scene.during(group.describe(going()));
  await scene.during(
    group.remove(
      instances.slice(0, 2).map(({ id }) => id),
      going(),
    ),
  );
  const order = scene.fake.calls.map(({ action }) => action).filter((action) => /patch|vms.delete/.test(action));

  expect(order).toEqual(['crusoe.pools.patch', 'crusoe.vms.delete', 'crusoe.vms.delete']);
  expect(pool.vms).toHaveLength(3);
});

it('deletes nothing where the count cannot be lowered', async () => {
  const { scene, group, living } = await openPool(3);
  const { instances } = await scene.during(group.describe(going()));
  scene.fake.failureRules.add({
    action: 'crusoe.pools.patch',
    what: { kind: 'error', code: '403', message: 'unauthorized', status: 403 },
  });

  await expect(scene.during(group.remove([instances[0]?.id ?? ''], going()))).rejects.toMatchObject({ kind: 'denied' });
  expect(living()).toBe(3);
});

it('keeps what is still to come when it removes machines', async () => {
  const { scene, pool, group } = await openPool(2);
  const { instances } = await scene.during(group.describe(going()));
  scene.fake.state.stock = 0;
  await scene.during(group.grow(growth(2, 4), going()));
  await scene.during(group.remove([instances[0]?.id ?? ''], going()));

  expect(pool.count).toBe(3);
});

it('goes on with a removal whose first machine was deleted before it broke off', async () => {
  const { scene, pool, group, living } = await openPool(4);
  const ids = (await scene.during(group.describe(going()))).instances.slice(0, 2).map(({ id }) => id);
  scene.fake.failureRules.add({ action: 'crusoe.vms.delete', after: 1, what: { kind: 'lost request' } });
  const first = await scene.during(group.remove(ids, going()));
  const second = await scene.during(group.remove(ids, going()));

  expect(first.filter(({ fault }) => fault)).toHaveLength(1);
  expect(second.every(({ fault }) => !fault)).toBe(true);
  expect([pool.count, living()]).toEqual([2, 2]);
});

it('lowers the count to what exists and never below, also where the listing is late', async () => {
  const { scene, pool, group, living } = await openPool(1, { lagMs: 10 * MINUTE_MS });
  scene.fake.state.stock = 1;
  await scene.during(group.grow(growth(2, 3), going()));
  await scene.clock.advance(MINUTE_MS);
  const [request] = (await scene.during(group.describe(going()))).requests;
  await scene.during(group.cancel([request?.id ?? ''], going()));

  expect(living()).toBe(2);
  expect(pool.count).toBe(2);
});

it('waits for nodes while their operation runs, and says why where it failed, also as another server', async () => {
  const { scene, group } = await openPool(1, { operationMs: 5 * MINUTE_MS });
  scene.fake.state.stock = 0;
  await scene.during(group.grow(growth(2, 3), going()));
  const [waiting] = (await scene.during(group.describe(going()))).requests;
  await scene.clock.advance(6 * MINUTE_MS);
  const [failed] = (await scene.during((await found(scene)).describe(going()))).requests;

  expect(waiting).toMatchObject({ state: 'waiting', count: 2 });
  expect(waiting).not.toHaveProperty('trouble');
  expect(failed).toMatchObject({ state: 'failed', count: 2, trouble: { kind: 'exhausted', final: true } });
  expect(failed?.trouble?.message).toContain('out of capacity');
});

it('reads why a pool of a newer cluster has too few nodes', async () => {
  const { scene, pool, group } = await openPool(1);
  scene.fake.state.stock = 0;
  await scene.during(group.grow(growth(1, 2), going()));
  pool.later = { health: { issues: [{ code: 'INSUFFICIENT_QUOTA', message: 'The quota of H100 is used up.' }] } };
  const [request] = (await scene.during(group.describe(going()))).requests;

  expect(request).toMatchObject({ state: 'failed', trouble: { kind: 'quota', reason: 'INSUFFICIENT_QUOTA' } });
});

it('has no queue', async () => {
  const { scene, group } = await openPool(1);

  expect(group.queue).toBeUndefined();
  await expect(scene.during(group.grow({ ...growth(1, 2), runForMs: 3_600_000 }, going()))).rejects.toMatchObject({
    kind: 'unsupported',
  });
});

it('takes the id of a pool for its name, and leaves pools of other clusters out where it has one', async () => {
  const scene = openCrusoeScene();
  const { during, fake, open } = scene;
  const here = fake.addPool('h100', 1);
  const there = fake.addPool('h100', 1, 'cluster-2');
  const all = await during(open());
  const one = await during(open({ clusterId: 'cluster-2' }));

  const byId = (await during(all.find({ names: [here.id], providerIds: [] }, going()))).get(here.id) as NodeGroup;
  const byName = (await during(one.find({ names: ['h100'], providerIds: [] }, going()))).get('h100') as NodeGroup;
  expect(byId.id).toContain(here.id);
  expect(byName.id).toContain(there.id);
});

it('counts the cards of AMD, and the network cards that come with them', async () => {
  const scene = openCrusoeScene();
  const groups = await scene.during(
    scene.open({ poolTemplates: { mi300x: { ...TEMPLATES.h100, type: 'mi300x-192gb-roce.8x' } } }),
  );
  const wanted = { name: 'amd', template: 'mi300x', provisioner: 'amd' };
  const group = await scene.during(groups.create?.(wanted, going()) as Promise<NodeGroup>);
  const { allocatable, labels } = (await scene.during(group.describe(going()))).template;

  expect(allocatable).toMatchObject({ 'amd.com/gpu': 8, 'amd.com/vnics': 8, cpu: 208_000, pods: 110 });
  expect(labels['nodeprovisioner.compute.baseten.co/provisioner-name']).toBe('amd');
});

// What an object says of itself while it cannot be served; then it grows and deletes nothing.
import { describe, expect, it } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { put } from '#core/store.ts';
import { aPool } from '#core/testing/pool.ts';
import { MEMORY_TEMPLATE } from '../conformance/memory-node-cloud.ts';
import { readPolicy } from './policy.ts';
import { type NodesScene, openNodesScene } from './testing/scene.ts';

const ONE_GROUP = { existingInstanceGroupNames: ['grp'], minGPUUtilizationPercent: 80, scaleDownDelay: 60 };

const ready = (scene: NodesScene, name = 'h100') => (scene.status(name).conditions as object[])[0];

/** An object with nodes that it would take away, and a pod for which it would grow; both after something was changed. */
async function brokenBy(change: (scene: NodesScene) => unknown, spec: object = ONE_GROUP, forMs = 90 * SECOND_MS) {
  const scene = await openNodesScene();
  scene.fill(scene.cloud.addGroup('grp', 'zone-a'), 3);
  await change(scene);
  await scene.define('h100', spec);
  await scene.addPod('p', 8, { spec: { nodeSelector: { zone: 'none' } } });
  await scene.clock.advance(forMs);
  return scene;
}

async function expectIdle(scene: NodesScene, condition: object): Promise<void> {
  expect(ready(scene)).toMatchObject({ status: 'False', ...condition });
  expect([scene.calls, scene.tainted()]).toEqual([[], []]);
  await scene.stop();
}

describe('an object', () => {
  it.each([0, 101, 50.5, '80'])('with a percentage of %j is refused', async (percent) => {
    const [problem] = readPolicy({ ...ONE_GROUP, minGPUUtilizationPercent: percent }) as readonly { path: string }[];

    expect(problem?.path).toBe('spec.minGPUUtilizationPercent');
  });

  it('whose group has workers of a pool is not served, and names the pool', async () => {
    const scene = await brokenBy(async ({ clouds, store }) => {
      const offer = { id: 'o1', kind: 'memory', config: {} };
      await store.commit([put('pools', aPool({}, { name: 'workers', offers: [offer] }))]);
      clouds.offersOf = (cloud) => (cloud === 'memory:zone-a:grp' ? [offer] : []);
    });

    await expectIdle(scene, { reason: 'GroupTaken', message: expect.stringContaining('The pool workers') });
  });

  it('is not served before the clouds of pools are open', async () => {
    const change = async ({ clouds, store }: NodesScene) => {
      await store.commit([put('pools', aPool({}, { name: 'workers' }))]);
      clouds.cloudOf = () => undefined;
    };
    const scene = await brokenBy(change, ONE_GROUP, 20 * SECOND_MS);
    const before = scene.nodes.list();
    scene.clouds.cloudOf = (id) => id;
    await scene.clock.advance(5 * SECOND_MS);

    expect([before, scene.nodes.list().length]).toEqual([[], 1]);
    await scene.stop();
  });

  it('with flexStart for a group without a queue is not served', async () => {
    const spec = { ...ONE_GROUP, existingInstanceGroupNames: [], instanceGroups: [{ name: 'grp', flexStart: {} }] };
    const scene = await openNodesScene({ style: 'counts' });
    scene.fill(scene.cloud.addGroup('grp', 'zone-a'), 3);
    await scene.define('h100', spec);
    await scene.clock.advance(30 * SECOND_MS);

    await expectIdle(scene, { reason: 'NoQueueInGroup', message: expect.stringContaining('Remove flexStart') });
  });

  it('of whose groups one has no GPU in its template is not served, and names that group', async () => {
    const { 'nvidia.com/gpu': _none, ...allocatable } = MEMORY_TEMPLATE.allocatable;
    const spec = { ...ONE_GROUP, existingInstanceGroupNames: ['grp', 'cpu'] };
    const scene = await brokenBy(
      ({ cloud }) => cloud.addGroup('cpu', 'zone-a', undefined, { ...MEMORY_TEMPLATE, allocatable }),
      spec,
    );

    await expectIdle(scene, {
      reason: 'NoGPUInTemplate',
      message: expect.stringContaining('template of cpu has no nvidia.com/gpu'),
    });
  });

  it('whose nodes lack its label is not served, and none of them is deleted as if it had never come', async () => {
    const scene = await openNodesScene();
    scene.cloud.addGroup('grp', 'zone-a');
    await scene.define('h100', { ...ONE_GROUP, registrationTimeoutSeconds: 300 });
    await scene.addPod('p', 8);
    await scene.clock.advance(15 * SECOND_MS);
    const { store } = scene.fake.world;
    while (scene.nodeNames().length === 0) await scene.clock.advance(100);
    const [name = ''] = scene.nodeNames();
    const node = store.get('/nodes', undefined, name);
    if (node) store.replace('/nodes', { ...node, metadata: { ...node.metadata, labels: { zone: 'a' } } });
    await scene.clock.advance(10 * MINUTE_MS);

    expect([scene.calls, scene.nodeNames()]).toEqual([['grow grp by 1 to 1'], [name]]);
    const command = `kubectl label node ${name} nodeprovisioner.compute.baseten.co/provisioner-name=h100`;
    expect(ready(scene)).toMatchObject({ reason: 'NodesNotLabelled', message: expect.stringContaining(command) });
    const labels = { 'nodeprovisioner.compute.baseten.co/provisioner-name': 'h100' };
    await scene.kubectl('PATCH', `/api/v1/nodes/${name}`, { metadata: { labels } });
    await scene.clock.advance(MINUTE_MS);
    expect(ready(scene)).toMatchObject({ status: 'True' });
    await scene.stop();
  });

  it('is served where an operator has taken the label off one of its nodes, which is left alone', async () => {
    const scene = await openNodesScene();
    scene.fill(scene.cloud.addGroup('grp', 'zone-a'), 3);
    const [name = ''] = scene.nodeNames();
    const { store } = scene.fake.world;
    const node = store.get('/nodes', undefined, name);
    if (node) store.replace('/nodes', { ...node, metadata: { ...node.metadata, labels: {} } });
    await scene.define('h100', { ...ONE_GROUP, minNodes: 1 });
    await scene.clock.advance(5 * MINUTE_MS);

    expect(ready(scene)).toMatchObject({ status: 'True' });
    expect(scene.calls).toEqual(['remove 1 of grp']);
    expect(scene.nodeNames()).toContain(name);
    await scene.stop();
  });

  it('without any GPU to be seen is not served', async () => {
    const { 'nvidia.com/gpu': _none, ...allocatable } = MEMORY_TEMPLATE.allocatable;
    const scene = await openNodesScene({ template: { ...MEMORY_TEMPLATE, allocatable } });
    scene.fill(scene.cloud.addGroup('grp', 'zone-a'), 2);
    await scene.define('h100', ONE_GROUP);
    await scene.clock.advance(30 * SECOND_MS);

    await expectIdle(scene, { reason: 'NoGPUInTemplate', message: expect.stringContaining('Set gpuResource') });
  });

  it.each([
    ['denied', 'RightMissing'],
    ['invalid', 'Unreachable'],
  ] as const)('whose groups cannot be read, since the cloud says %s, says %s with the remedy', async (kind, reason) => {
    const scene = await brokenBy(({ mood }) => {
      mood.fault = kind;
    });

    await expectIdle(scene, { reason, message: expect.stringContaining(new Fault(kind, 'The cloud fails.').remedy) });
  });

  it('that may not change nodes names the rule that is missing', async () => {
    const message =
      'nodes "n" is forbidden: User "u" cannot patch resource "nodes" in API group "" at the cluster scope';
    const scene = await brokenBy(({ fake }) =>
      fake.failureRules.add({
        action: 'patch nodes',
        times: 100,
        what: { kind: 'error', code: 'Forbidden', status: 403, message },
      }),
    );

    const rule = '{apiGroups: [""], resources: ["nodes"], verbs: ["patch"]}';
    await expectIdle(scene, { reason: 'RightMissing', message: expect.stringContaining(rule) });
  });

  it('that may not list pods names the rule that is missing', async () => {
    const message = 'pods is forbidden: User "u" cannot list resource "pods" in API group "" at the cluster scope';
    const scene = await brokenBy(({ fake, restart }) => {
      fake.failureRules.add({
        action: 'list pods',
        times: 100,
        what: { kind: 'error', code: 'Forbidden', status: 403, message },
      });
      return restart();
    });

    const rule = '{apiGroups: [""], resources: ["pods"], verbs: ["list"]}';
    await expectIdle(scene, { reason: 'RightMissing', message: expect.stringContaining(rule) });
  });

  it('with two names of one group is not served', async () => {
    const scene = await openNodesScene();
    const group = scene.cloud.addGroup('grp', 'zone-a');
    scene.cloud.groups.set('pool', { ...group, name: 'pool' });
    await scene.define('h100', { ...ONE_GROUP, existingInstanceGroupNames: ['grp', 'pool'] });
    await scene.clock.advance(30 * SECOND_MS);

    await expectIdle(scene, {
      reason: 'GroupAmbiguous',
      message: expect.stringContaining('grp and pool are the same'),
    });
  });

  it('whose cloud fails later keeps its groups: no other object takes them', async () => {
    const scene = await openNodesScene();
    scene.cloud.addGroup('grp', 'zone-a');
    await scene.define('h100', ONE_GROUP);
    await scene.clock.advance(5 * SECOND_MS);
    scene.mood.fault = 'denied';
    await scene.clock.advance(2 * MINUTE_MS);
    scene.mood.fault = undefined;
    await scene.define('second', ONE_GROUP);
    await scene.clock.advance(5 * SECOND_MS);

    expect(ready(scene, 'second')).toMatchObject({ reason: 'GroupTaken' });
    await scene.stop();
  });
});

describe('a cluster that does not know NodeProvisioners', () => {
  it('is said with the definition to install', async () => {
    const scene = await openNodesScene({ isWithoutDefinition: true });

    expect([scene.nodes.list(), scene.nodes.fault()?.remedy]).toEqual([
      [],
      'Install the CustomResourceDefinition nodeprovisioners.compute.baseten.co with kubectl apply -f.',
    ]);
    await scene.stop();
  });
});

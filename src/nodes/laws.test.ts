// What holds of the whole controller, whatever happens around it.
import { describe, expect, it } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { SERVED_BY } from './objects.ts';
import { type NodesScene, type NodesSceneOptions, openNodesScene } from './testing/scene.ts';

const ONE_GROUP = { existingInstanceGroupNames: ['grp'], minGPUUtilizationPercent: 80 };

/** Some nodes, each used as a whole by one pod or not at all. */
async function withNodes(nodes: number, used: number, spec: object = ONE_GROUP, options: NodesSceneOptions = {}) {
  const scene = await openNodesScene(options);
  const group = scene.cloud.addGroup('grp', 'zone-a');
  scene.fill(group, nodes);
  const names = scene.nodeNames();
  for (let at = 0; at < used; at++) await scene.addPod(`p${at}`, 8, { on: names[at] ?? '' });
  await scene.define('h100', spec);
  await scene.clock.advance(5 * SECOND_MS);
  return { ...scene, group };
}

const placed = (scene: NodesScene): number => scene.fake.objects('pods').filter(({ spec }) => spec?.nodeName).length;
const ready = (scene: NodesScene) =>
  (scene.status('h100').conditions as { type: string; status: string; reason: string; message: string }[]).find(
    ({ type }) => type === 'Ready',
  );

describe('growing', () => {
  it('a lost reply grows the group once', async () => {
    const scene = await withNodes(0, 0);
    scene.mood.isReplyLost = true;
    await scene.addPod('p', 8);

    await scene.clock.advance(5 * MINUTE_MS);

    expect(scene.nodeNames()).toHaveLength(1);
    expect(placed(scene)).toBe(1);
    await scene.stop();
  });

  it('a lost reply of a cloud that only counts grows the group once', async () => {
    const scene = await withNodes(0, 0, ONE_GROUP, { style: 'counts' });
    scene.mood.isReplyLost = true;
    await scene.addPod('p', 8);

    await scene.clock.advance(5 * MINUTE_MS);

    expect(scene.nodeNames()).toHaveLength(1);
    await scene.stop();
  });

  it('what the first group cannot give comes from the next, and the first is not asked again at once', async () => {
    const scene = await openNodesScene();
    for (const name of ['first', 'second']) scene.cloud.addGroup(name, 'zone-a');
    await scene.define('h100', { existingInstanceGroupNames: ['first', 'second'] });
    scene.cloud.stock = 0;
    for (const at of [1, 2]) await scene.addPod(`p${at}`, 8);
    await scene.clock.advance(12 * SECOND_MS);
    scene.cloud.stock = 100;

    await scene.clock.advance(4 * MINUTE_MS);

    expect(scene.calls.filter((call) => call.startsWith('grow second')).length).toBeGreaterThan(0);
    expect(scene.calls.filter((call) => call.startsWith('remove'))).toHaveLength(1);
    expect(placed(scene)).toBe(2);
    expect(scene.nodeNames()).toHaveLength(2);
    expect(scene.status('h100').groups).toMatchObject([{ name: 'first', lastError: 'There is no capacity.' }, {}]);
    await scene.stop();
  });

  it('nodes whose GPUs come ten minutes late make nothing else grow', async () => {
    const scene = await withNodes(0, 0, ONE_GROUP, { registerMs: 10 * MINUTE_MS });
    await scene.addPod('p', 8);

    await scene.clock.advance(30 * MINUTE_MS);

    expect(scene.calls).toEqual(['grow grp by 1 to 1']);
    await scene.stop();
  });

  it('a pod that only the scheduler refuses costs one node at most', async () => {
    const scene = await withNodes(0, 0);
    scene.fake.kubelet.rules.add({ unschedulable: 'A volume is in another zone.' });
    await scene.addPod('p', 8);

    await scene.clock.advance(30 * MINUTE_MS);

    expect(scene.calls.filter((call) => call.startsWith('grow'))).toEqual(['grow grp by 1 to 1']);
    expect(scene.status('h100')).toMatchObject({ pendingPods: 0, unfitPods: 1 });
    await scene.stop();
  });

  it('a pod that the scheduler was slow to place counts again once others have taken its room', async () => {
    const scene = await withNodes(1, 0);
    const makeFast = scene.fake.kubelet.rules.add({ unschedulable: 'It is slow.' });
    await scene.addPod('p', 8);
    await scene.clock.advance(4 * MINUTE_MS);
    expect([scene.calls, scene.status('h100').unfitPods]).toEqual([[], 1]);
    makeFast();
    await scene.addPod('other', 8, { on: scene.nodeNames()[0] ?? '' });

    await scene.clock.advance(2 * MINUTE_MS);

    expect([scene.calls, placed(scene)]).toEqual([['grow grp by 1 to 2'], 2]);
    await scene.stop();
  });

  it('a restart between the commit and the answer grows the group once', async () => {
    const scene = await withNodes(0, 0);
    scene.mood.isHanging = true;
    await scene.addPod('p', 8);
    await scene.clock.advance(2 * SECOND_MS);
    scene.mood.isHanging = false;
    await scene.restart();

    await scene.clock.advance(5 * MINUTE_MS);

    expect(scene.nodeNames()).toHaveLength(1);
    await scene.stop();
  });
});

describe('taking away', () => {
  it('a pod that was bound in spite of the taint keeps its node', async () => {
    const scene = await withNodes(3, 1);
    const [node] = scene.tainted();
    await scene.clock.advance(10 * MINUTE_MS - 7 * SECOND_MS);
    await scene.addPod('late', 8, { on: node ?? '' });

    await scene.clock.advance(30 * SECOND_MS);

    expect(scene.nodeNames()).toContain(node);
    expect(scene.tainted()).not.toContain(node);
    await scene.stop();
  });

  it('a takeover in the middle of a deletion finishes it', async () => {
    const scene = await withNodes(3, 1);
    await scene.clock.advance(10 * MINUTE_MS - 4 * SECOND_MS);
    await scene.restart();

    await scene.clock.advance(2 * MINUTE_MS);

    expect(scene.nodeNames()).toHaveLength(1);
    await scene.stop();
  });

  it('while more than 30 percent of the nodes turned NotReady nothing is taken away', async () => {
    const scene = await withNodes(6, 2);
    const names = scene.nodeNames().slice(0, 3);
    await scene.clock.advance(2 * MINUTE_MS);
    for (const name of names) scene.fake.disruptions.killNode(name);

    await scene.clock.advance(30 * MINUTE_MS);

    expect(scene.calls).toEqual([]);
    expect(ready(scene)).toMatchObject({ status: 'False', reason: 'NodesNotReady' });
    await scene.stop();
  });

  it('takes its taints off when the object is gone', async () => {
    const scene = await withNodes(3, 1);
    expect(scene.tainted()).toHaveLength(2);
    await scene.kubectl('DELETE', '/apis/compute.baseten.co/v1alpha1/nodeprovisioners/h100');

    await scene.clock.advance(MINUTE_MS);

    expect(scene.tainted()).toEqual([]);
    expect(scene.calls).toEqual([]);
    await scene.stop();
  });
});

describe('objects', () => {
  it('one that another Muster serves is left alone', async () => {
    const scene = await openNodesScene();
    scene.cloud.addGroup('grp', 'zone-a');
    await scene.kubectl('POST', '/apis/compute.baseten.co/v1alpha1/nodeprovisioners', {
      apiVersion: 'compute.baseten.co/v1alpha1',
      kind: 'NodeProvisioner',
      metadata: { name: 'h100', annotations: { [SERVED_BY]: 'another' } },
      spec: ONE_GROUP,
    });
    await scene.addPod('p', 8);

    await scene.clock.advance(MINUTE_MS);

    expect(scene.calls).toEqual([]);
    await scene.stop();
  });

  it.each([
    [{ ...ONE_GROUP, scaleDownDelay: 60, scaleDownDelaySeconds: 90 }, 'SpecInvalid', 'keep one'],
    [{ ...ONE_GROUP, maxGPUUtilizationPercent: 70 }, 'SpecInvalid', 'must be below'],
    [{ ...ONE_GROUP, minNodes: 5, maxNodes: 2 }, 'SpecInvalid', 'minNodes'],
    [{ ...ONE_GROUP, minGpuUtilisationPercent: 80 }, 'SpecInvalid', 'did you mean minGPUUtilizationPercent'],
    [{ existingInstanceGroupNames: ['grps'] }, 'GroupNotFound', 'grp in zone-a'],
    [{ instanceGroups: [{ name: 'grp', account: 'x' }] }, 'NoAccount', 'memory'],
  ])('%j grows and deletes nothing, and says why: %s', async (spec, reason, said) => {
    const scene = await openNodesScene();
    scene.cloud.addGroup('grp', 'zone-a');
    await scene.define('h100', spec);
    await scene.addPod('p', 8);

    await scene.clock.advance(MINUTE_MS);

    expect(scene.calls).toEqual([]);
    expect(ready(scene)).toMatchObject({ status: 'False', reason, message: expect.stringContaining(said) });
    await scene.stop();
  });

  it('a group that the server file does not permit is not sized', async () => {
    const accounts = [{ kind: 'memory', config: {}, groups: ['other-*'] }];
    const scene = await withNodes(3, 0, ONE_GROUP, { settings: { accounts } });

    expect(ready(scene)).toMatchObject({ reason: 'GroupNotPermitted' });
    expect(scene.tainted()).toEqual([]);
    await scene.stop();
  });

  it('the second of two objects with one group is refused', async () => {
    const scene = await withNodes(1, 1);
    await scene.define('second', ONE_GROUP);
    await scene.clock.advance(5 * SECOND_MS);

    expect(scene.status('second').conditions).toMatchObject([{ status: 'False', reason: 'GroupTaken' }]);
    await scene.stop();
  });

  it('a group with an autoscaler of its own is not sized', async () => {
    const scene = await openNodesScene();
    scene.cloud.addGroup('grp', 'zone-a').isAutoscaled = true;
    await scene.define('h100', ONE_GROUP);
    await scene.addPod('p', 8);
    await scene.clock.advance(MINUTE_MS);

    expect(ready(scene)).toMatchObject({ reason: 'GroupHasAutoscaler' });
    expect(scene.calls).toEqual([]);
    await scene.stop();
  });

  it('what it does is written down with its reason', async () => {
    const scene = await withNodes(12, 8);

    const [first] = await scene.decisions('h100');
    expect(first).toMatch(/^taint 2 empty nodes: .*: 12 nodes, 8 busy, 66 % < 80 % → 10$/);
    expect(scene.nodes.plan('h100')).toMatchObject({ target: 10 });
    await scene.stop();
  });
});

// Nodes whose machines end by themselves: each is replaced before that, or kept until its end.
import { describe, expect, it } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { type NodesScene, type NodesSceneOptions, openNodesScene } from './testing/scene.ts';

const SPEC = { existingInstanceGroupNames: ['grp'], rotation: { leadSeconds: 600 } };

/** Nodes that end after 20 minutes, replaced from minute 7.5 to 10, each filled by one pod of a Deployment. */
async function withEndingNodes(count: number, spec: object = SPEC, options: NodesSceneOptions = {}) {
  const scene = await openNodesScene(options);
  const group = scene.cloud.addGroup('grp', 'zone-a');
  scene.fill(group, count, 20 * MINUTE_MS);
  const old = scene.nodeNames();
  await scene.deploy('web', count, 8);
  await scene.clock.advance(2 * SECOND_MS);
  await scene.define('h100', spec);
  await scene.clock.advance(5 * SECOND_MS);
  return { ...scene, group, old };
}

const budget = (scene: NodesScene, minAvailable: number) =>
  scene.kubectl('POST', '/apis/policy/v1/namespaces/default/poddisruptionbudgets', {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'web' },
    spec: { minAvailable, selector: { matchLabels: { app: 'web' } } },
  });

const onTime = (scene: NodesScene) =>
  (scene.status('h100').conditions as { type: string }[]).find(({ type }) => type === 'RotationOnTime');

const placed = (scene: NodesScene): readonly string[] => Object.values(scene.places()).filter((node) => node !== '');

describe('a node that ends soon', () => {
  it('goes when a replacement is ready and has taken its pods', async () => {
    const {
      old: [first = ''],
      ...scene
    } = await withEndingNodes(1);
    await scene.clock.advance(6 * MINUTE_MS);
    expect(scene.calls).toEqual([]);
    while (scene.tainted().length === 0) await scene.clock.advance(2 * SECOND_MS);
    expect(scene.nodeNames()).toHaveLength(2);
    await scene.clock.advance(MINUTE_MS);

    expect(scene.calls).toEqual(['grow grp by 1 to 2', 'remove 1 of grp']);
    expect(scene.nodeNames()).toHaveLength(1);
    expect(scene.nodeNames()).not.toContain(first);
    expect(placed(scene)).toEqual(scene.nodeNames());
    const did = (await scene.decisions('h100')).map((text) => text.split(' ').slice(0, 2).join(' '));
    expect(did.filter((text) => !text.startsWith('nothing'))).toEqual([
      'grow grp',
      'rotate 1',
      'evict 1',
      'delete 1',
      'delete 1',
    ]);
    await scene.stop();
  });

  it('is kept where there is no capacity, asked for each minute, and said to be late', async () => {
    const scene = await withEndingNodes(1);
    scene.cloud.stock = 0;
    while (scene.calls.length === 0) await scene.clock.advance(10 * SECOND_MS);
    await scene.clock.advance(5 * MINUTE_MS);
    expect(scene.calls.filter((call) => call.startsWith('grow')).length).toBeGreaterThanOrEqual(4);
    expect(onTime(scene)).toMatchObject({ status: 'False', reason: 'NoReplacement' });
    expect(scene.tainted()).toEqual([]);
    await scene.clock.advance(3 * MINUTE_MS);
    expect(scene.nodes.list()).toMatchObject([{ lateRotations: 1 }]);
    scene.cloud.stock = 10;
    await scene.clock.advance(2.5 * MINUTE_MS);

    expect(scene.nodeNames()).not.toContain(scene.old[0]);
    expect(placed(scene)).toEqual(scene.nodeNames());
    expect(onTime(scene)).toMatchObject({ status: 'True', reason: 'NothingEnds' });
    await scene.stop();
  });

  it('is one at a time, and all of them are replaced before they end', async () => {
    const scene = await withEndingNodes(4);
    let most = 0;
    for (let at = 0; at < 19 * 2; at++) {
      await scene.clock.advance(MINUTE_MS / 2);
      most = Math.max(most, scene.nodeNames().length);
      expect(scene.tainted().length).toBeLessThanOrEqual(1);
    }

    expect(most).toBe(5);
    expect(scene.nodeNames().filter((name) => scene.old.includes(name))).toEqual([]);
    expect(new Set(placed(scene)).size).toBe(4);
    await scene.stop();
  });

  it('whose pods fit on other nodes is not replaced by a new one', async () => {
    const scene = await withEndingNodes(1);
    scene.fill(scene.group, 1);

    await scene.clock.advance(11 * MINUTE_MS);

    expect(scene.calls).toEqual(['remove 1 of grp']);
    expect(placed(scene)).toEqual(scene.nodeNames());
    await scene.stop();
  });

  it('gives its pods to spare nodes once half the lead is over, where no replacement comes', async () => {
    const scene = await withEndingNodes(1, { ...SPEC, minUnutilizedGPUNodes: 1 });
    await scene.clock.advance(MINUTE_MS);
    expect(scene.nodeNames()).toHaveLength(2);
    scene.cloud.stock = 0;
    await scene.clock.advance(12 * MINUTE_MS);
    expect(scene.nodeNames()).toContain(scene.old[0]);

    await scene.clock.advance(4 * MINUTE_MS);

    expect(scene.nodeNames()).not.toContain(scene.old[0]);
    expect(placed(scene)).toEqual(scene.nodeNames());
    await scene.stop();
  });

  it('keeps pods whose budget lets none go, beside others that go', async () => {
    const scene = await withEndingNodes(2);
    await budget(scene, 2);

    await scene.clock.advance(12 * MINUTE_MS);
    expect(scene.nodeNames()).toHaveLength(4);
    expect(scene.tainted()).toEqual(scene.old);
    await scene.clock.advance(4 * MINUTE_MS);
    expect(onTime(scene)).toMatchObject({
      status: 'False',
      reason: 'PodsStay',
      message: expect.stringContaining('its PodDisruptionBudget web lets none go now'),
    });
    await scene.kubectl('PATCH', '/apis/policy/v1/namespaces/default/poddisruptionbudgets/web', {
      spec: { minAvailable: 1 },
    });
    await scene.clock.advance(2 * MINUTE_MS);

    expect(scene.nodeNames().filter((name) => scene.old.includes(name))).toEqual([]);
    expect(placed(scene)).toHaveLength(2);
    await scene.stop();
  });

  it('is left to a pod that no controller would make again', async () => {
    const scene = await openNodesScene();
    scene.fill(scene.cloud.addGroup('grp', 'zone-a'), 1, 20 * MINUTE_MS);
    await scene.addPod('bare', 4);
    await scene.define('h100', SPEC);
    await scene.clock.advance(16 * MINUTE_MS);

    expect(placed(scene)).toHaveLength(1);
    expect(onTime(scene)).toMatchObject({ reason: 'PodsStay', message: expect.stringContaining('default/bare') });
    await scene.removePod('bare');
    await scene.clock.advance(MINUTE_MS);
    expect(scene.nodeNames()).toEqual([]);
    await scene.stop();
  });

  it('that lives shorter than the lead is not replaced as soon as it is there', async () => {
    const scene = await withEndingNodes(1, { ...SPEC, rotation: { leadSeconds: 7_200 } });

    await scene.clock.advance(6 * MINUTE_MS);

    expect(scene.calls).toEqual([]);
    await scene.stop();
  });

  it('is replaced from the next group when the queue of the first gives nothing in time', async () => {
    const flexStart = { runSeconds: 1_200, waitSeconds: 120 };
    const instanceGroups = [{ name: 'grp', flexStart }, { name: 'plain' }];
    const scene = await withEndingNodes(1, { instanceGroups, rotation: { leadSeconds: 600 } });
    scene.cloud.addGroup('plain', 'zone-a');
    scene.cloud.isQueueHeld = true;

    await scene.clock.advance(13 * MINUTE_MS);

    expect(scene.calls.slice(0, 3)).toEqual(['grow grp by 1 to 2', 'cancel 1 of grp', 'grow plain by 1 to 1']);
    expect(placed(scene)).toEqual(scene.nodeNames());
    await scene.stop();
  });
});

describe('a rotation that is interrupted', () => {
  it.each([31, 34])('goes on after a takeover %d seconds after its first call', async (seconds) => {
    const scene = await withEndingNodes(1);
    while (scene.calls.length === 0) await scene.clock.advance(10 * SECOND_MS);
    await scene.clock.advance(seconds * SECOND_MS);
    await scene.restart();
    await scene.clock.advance(2 * MINUTE_MS);

    expect(scene.calls).toEqual(['grow grp by 1 to 2', 'remove 1 of grp']);
    expect(placed(scene)).toEqual(scene.nodeNames());
    await scene.stop();
  });

  it('by many nodes that turned NotReady does not begin until they return', async () => {
    const scene = await withEndingNodes(4);
    await scene.clock.advance(2 * MINUTE_MS);
    for (const name of scene.nodeNames().slice(1)) scene.fake.disruptions.killNode(name);

    await scene.clock.advance(10 * MINUTE_MS);

    expect(scene.tainted()).toEqual([]);
    expect(scene.calls.filter((call) => call.startsWith('remove'))).toEqual([]);
    await scene.stop();
  });
});

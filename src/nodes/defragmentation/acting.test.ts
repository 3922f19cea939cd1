// Nodes are emptied as the plan shows, within the budgets of the hour, and whatever happens meanwhile.
import { describe, expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { type NodesScene, type NodesSceneOptions, openNodesScene } from '../testing/scene.ts';

const ACT = { mode: 'act' };
const SPEC = { existingInstanceGroupNames: ['grp'], minUnutilizedGPUNodes: 0, defragmentation: ACT };

/** As many nodes as pods, each with one pod of a Deployment; the object acts from the first pass on. */
async function withSpreadPods(count: number, spec: object = SPEC, options: NodesSceneOptions = {}) {
  const scene = await openNodesScene(options);
  scene.fill(scene.cloud.addGroup('grp', 'zone-a'), count);
  await scene.deploy('web', count, 1);
  await scene.clock.advance(5 * SECOND_MS);
  const uids = (): string[] => scene.fake.objects('pods').map(({ metadata }) => metadata.uid ?? '');
  const all = new Set(uids());
  const made = {
    get evictions() {
      return all.size - count;
    },
  };
  await scene.define('h100', spec);
  return {
    ...scene,
    made,
    /** The moment at which the taint is written: nothing is evicted yet. */
    async untilTainted() {
      while (scene.tainted().length === 0) await scene.clock.advance(20);
    },
    /** Looks so often that no pod is missed. */
    async pass(ms: number) {
      for (let passed = 0; passed < ms; passed += 5 * SECOND_MS) {
        await scene.clock.advance(Math.min(5 * SECOND_MS, ms - passed));
        for (const uid of uids()) all.add(uid);
      }
    },
  };
}

const budget = (scene: NodesScene, minAvailable: number) =>
  scene.kubectl('POST', '/apis/policy/v1/namespaces/default/poddisruptionbudgets', {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'web' },
    spec: { minAvailable, selector: { matchLabels: { app: 'web' } } },
  });

const waiting = (scene: NodesScene): string[] =>
  Object.entries(scene.places()).flatMap(([pod, node]) => (node === '' ? [pod] : []));

const verbs = async (scene: NodesScene): Promise<string[]> =>
  (await scene.decisions('h100')).map((text) => text.split(/[ :]/)[0] ?? '').filter((verb) => verb !== 'nothing');

describe('the mode act', () => {
  it('empties exactly the nodes that the plan shows for this hour, tainted before the first eviction', async () => {
    const scene = await withSpreadPods(5);
    await scene.pass(10 * SECOND_MS);
    const plan = await scene.during(scene.nodes.defragmentation('h100'));
    const shown = plan?.nodes.filter(({ when }) => when === 'this hour').map(({ name }) => name);
    expect(shown).toHaveLength(2);
    expect(scene.tainted()).toEqual([]);
    await scene.untilTainted();
    expect([scene.tainted().toSorted(), scene.made.evictions]).toEqual([shown?.toSorted(), 0]);

    await scene.pass(2 * MINUTE_MS);

    expect(scene.nodeNames()).toHaveLength(3);
    expect(scene.nodeNames().filter((name) => shown?.includes(name))).toEqual([]);
    expect([scene.made.evictions, waiting(scene)]).toEqual([2, []]);
    expect((await verbs(scene)).filter((verb) => verb !== 'delete')).toEqual(['empty', 'evict', 'evict']);
    await scene.stop();
  });

  it('goes on in the next hour, until nothing more can be saved, and then does nothing', async () => {
    const scene = await withSpreadPods(5);
    await scene.pass(59 * MINUTE_MS);
    expect(scene.nodeNames()).toHaveLength(3);
    await scene.pass(20 * MINUTE_MS);
    expect([scene.nodeNames().length, scene.tainted()]).toEqual([1, []]);
    const calls = [...scene.calls];

    await scene.pass(3 * HOUR_MS);

    expect([scene.calls, scene.made.evictions]).toEqual([calls, scene.made.evictions]);
    await scene.stop();
  });

  it('moves no pod twice, though the scheduler spreads, where the budgets allow all of the plan at once', async () => {
    const defragmentation = { ...ACT, maxNodesPerHour: 100, maxEvictionsPerHour: 100 };
    const scene = await withSpreadPods(7, { ...SPEC, defragmentation });

    await scene.pass(10 * MINUTE_MS);

    expect([scene.nodeNames().length, scene.made.evictions, waiting(scene)]).toEqual([1, 6, []]);
    await scene.stop();
  });

  it('fills no idle node, though the scheduler spreads, and leaves no taint behind', async () => {
    const scene = await withSpreadPods(4, { ...SPEC, minUnutilizedGPUNodes: 1, scaleDownDelay: 60 });
    await scene.pass(5 * MINUTE_MS);

    expect(scene.nodeNames()).toHaveLength(3);
    expect(new Set(Object.values(scene.places())).size).toBe(2);
    expect(scene.fake.objects('nodes').flatMap(({ spec }) => spec?.taints ?? [])).toEqual([]);
    expect(scene.made.evictions).toBe(2);
    await scene.stop();
  });

  it('evicts within the budgets of the pods, and asks again when one refuses', async () => {
    const scene = await withSpreadPods(3);
    await budget(scene, 2);

    await scene.pass(5 * MINUTE_MS);

    expect([scene.nodeNames().length, waiting(scene)]).toEqual([1, []]);
    await scene.stop();
  });

  it('empties one node at a time where that is the limit', async () => {
    const defragmentation = { ...ACT, maxNodesPerHour: 9 };
    const scene = await withSpreadPods(4, { ...SPEC, defragmentation });
    await budget(scene, 4);
    let most = 0;
    for (let at = 0; at < 40; at++) {
      await scene.pass(5 * SECOND_MS);
      const leaving = scene.fake.objects('pods').filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
      most = Math.max(most, new Set(leaving.map(({ spec }) => spec?.nodeName)).size);
    }

    expect(most).toBeLessThanOrEqual(1);
    await scene.stop();
  });
});

describe('a node that is being emptied', () => {
  /** Its one pod is kept by a budget from the moment on that it was tainted. */
  async function held() {
    const scene = await withSpreadPods(2);
    await scene.untilTainted();
    return scene;
  }

  it('is put back when its hour is over, and not begun again within another', async () => {
    const scene = await withSpreadPods(2);
    await scene.untilTainted();
    const begun = scene.tainted();
    await budget(scene, 2);
    await scene.pass(30 * MINUTE_MS);
    expect([scene.tainted(), scene.made.evictions]).toEqual([begun, 0]);

    await scene.pass(31 * MINUTE_MS);
    expect([scene.tainted(), scene.made.evictions]).toEqual([[], 0]);
    await scene.kubectl('DELETE', '/apis/policy/v1/namespaces/default/poddisruptionbudgets/web');
    await scene.pass(5 * MINUTE_MS);
    // The other one goes in its place.
    expect(scene.nodeNames()).toEqual(begun);
    await scene.stop();
  });

  it('is put back when the mode is no longer act', async () => {
    const scene = await held();
    await scene.define('h100', { ...SPEC, defragmentation: { mode: 'plan' } });

    await scene.pass(MINUTE_MS);

    expect([scene.tainted(), scene.nodeNames().length]).toEqual([[], 2]);
    await scene.stop();
  });

  it('is put back when a pod waits that fits nowhere else', async () => {
    const scene = await withSpreadPods(2);
    await scene.untilTainted();
    await budget(scene, 2);
    await scene.addPod('large', 7, {});
    await scene.addPod('larger', 7, {});
    await scene.pass(10 * SECOND_MS);

    expect([scene.tainted(), waiting(scene), scene.calls]).toEqual([[], [], []]);
    await scene.stop();
  });

  it('is put back when a pod on it must stay from now on', async () => {
    const scene = await withSpreadPods(2);
    await scene.untilTainted();
    const [node] = scene.tainted();
    const [pod = ''] = Object.entries(scene.places()).find(([, on]) => on === node) ?? [];
    await scene.kubectl('PATCH', `/api/v1/namespaces/default/pods/${pod}`, {
      metadata: { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } },
    });
    await scene.pass(10 * SECOND_MS);

    expect([scene.tainted(), scene.made.evictions]).toEqual([[], 0]);
    expect(await scene.decisions('h100')).toContainEqual(expect.stringContaining('annotation do-not-disrupt keeps it'));
    await scene.stop();
  });

  it('is left alone while everything is frozen, and goes on after it', async () => {
    const scene = await withSpreadPods(2);
    await scene.untilTainted();
    await scene.freeze();
    await scene.pass(10 * MINUTE_MS);
    expect([scene.tainted().length, scene.made.evictions]).toEqual([1, 0]);
    await scene.thaw();

    await scene.pass(MINUTE_MS);

    expect(scene.nodeNames()).toHaveLength(1);
    await scene.stop();
  });

  it.each([0, 1, 2, 4, 6, 8, 10])(
    'goes on after a takeover %d seconds after its taint, with no more evictions',
    async (seconds) => {
      const scene = await withSpreadPods(3);
      await scene.untilTainted();
      await scene.clock.advance(seconds * SECOND_MS);
      await scene.restart();

      await scene.pass(3 * MINUTE_MS);

      expect([scene.nodeNames().length, scene.made.evictions, waiting(scene)]).toEqual([1, 2, []]);
      await scene.stop();
    },
  );

  it('says so of itself', async () => {
    const scene = await held();
    await budget(scene, 2);
    await scene.pass(10 * SECOND_MS);
    const [name] = scene.tainted();

    expect(scene.nodes.show('h100')?.nodes.find((node) => node.name === name)).toMatchObject({ phase: 'emptying' });
    expect(scene.status('h100')).toMatchObject({ emptyingNodes: 1 });
    await scene.stop();
  });
});

describe('before a node is tainted', () => {
  it('the plan must hold for 15 seconds with the same pods', async () => {
    const scene = await withSpreadPods(2);
    await scene.pass(10 * SECOND_MS);
    expect(scene.tainted()).toEqual([]);
    await scene.scaleDeployment('web', 4);
    await scene.pass(10 * SECOND_MS);
    expect(scene.tainted()).toEqual([]);
    await scene.pass(30 * SECOND_MS);

    expect(scene.tainted().length + 2 - scene.nodeNames().length).toBeGreaterThan(0);
    await scene.stop();
  });
});

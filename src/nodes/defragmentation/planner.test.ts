// Which nodes moving pods would save, and which are kept for which reason.
import { describe, expect, it } from 'vitest';
import { SECOND_MS } from '#core/clock.ts';
import { drop, put } from '#core/store.ts';
import { type NodesScene, openNodesScene } from '../testing/scene.ts';

const SPEC = { existingInstanceGroupNames: ['grp'], minUnutilizedGPUNodes: 0 };

/** Owned pods, on node after node, by the GPUs of each. */
async function withLoad(
  load: readonly (readonly number[])[],
  spec: object = SPEC,
  change = async (_: NodesScene) => {},
) {
  const scene = await openNodesScene();
  scene.fill(scene.cloud.addGroup('grp', 'zone-a'), load.length);
  const names = scene.nodeNames();
  for (const [at, pods] of load.entries())
    for (const [index, gpus] of pods.entries())
      await scene.addPod(`p${at}-${index}`, gpus, { on: names[at] ?? '', owned: true });
  await change(scene);
  await scene.define('h100', spec);
  await scene.clock.advance(5 * SECOND_MS);
  const plan = await scene.during(scene.nodes.defragmentation('h100'));
  const at = (name: string) => names.indexOf(name);
  return {
    scene,
    plan,
    freed: plan?.nodes.map(({ name }) => at(name)),
    moves: Object.fromEntries(
      plan?.nodes.flatMap(({ moves }) => moves.map(({ pod, to }) => [pod.slice(8), at(to)])) ?? [],
    ),
    kept: Object.fromEntries(plan?.kept.map(({ node, why }) => [at(node), why]) ?? []),
  };
}

describe('the plan of defragmentation', () => {
  it('empties the nodes with the fewest GPUs in use into the fullest others, and says where each pod goes', async () => {
    const { scene, plan, freed, moves, kept } = await withLoad([[7], [1], [2, 2], [1, 1]]);

    expect(freed).toEqual([1, 3]);
    expect(moves).toEqual({ 'p1-0': 0, 'p3-0': 2, 'p3-1': 2 });
    expect(kept[2]).toBe('default/p2-0 fits on no other node that has pods');
    expect(plan).toMatchObject({ mode: 'plan', evictions: 3, savedPerHour: undefined });
    await scene.stop();
  });

  it('moves nothing by itself', async () => {
    const { scene } = await withLoad([[7], [1]]);
    const before = scene.places();

    await scene.clock.advance(600 * SECOND_MS);

    expect([scene.places(), scene.tainted(), scene.calls]).toEqual([before, [], []]);
    await scene.stop();
  });

  it('empties no node that would be kept all the same', async () => {
    const load = [[6], [6], [6], [6], [1], [1], [1]];
    const free = await withLoad(load);
    const bound = await withLoad(load, { ...SPEC, minGPUUtilizationPercent: 60 });
    const unlimited = await withLoad(load, { existingInstanceGroupNames: ['grp'] });

    expect(free.freed).toHaveLength(3);
    // 27 GPUs in use are 60 percent of no fewer than 5 nodes.
    expect(bound.freed).toHaveLength(2);
    expect(Object.values(bound.kept)).toContain('once empty it would be kept');
    expect(unlimited.freed).toEqual([]);
    for (const { scene } of [free, bound, unlimited]) await scene.stop();
  });

  it('fills no idle node', async () => {
    const { scene, moves } = await withLoad([[4], [], [1]], { ...SPEC, minUnutilizedGPUNodes: 1 });

    expect(moves).toEqual({ 'p2-0': 0 });
    await scene.stop();
  });

  it('saves a node that only pods without GPUs hold, beyond those that are kept idle', async () => {
    const { scene, freed, kept } = await withLoad([[4], [0], [0]], { ...SPEC, minUnutilizedGPUNodes: 1 });

    expect(freed).toEqual([1]);
    expect(kept).toMatchObject({ 2: 'once empty it would be kept' });
    await scene.stop();
  });

  it('moves pods without GPUs to nodes of no provisioner that take them, and no others', async () => {
    const spare = async ({ fake }: NodesScene) => {
      fake.nodes.add({ name: 'cpu', labels: {}, allocatable: { cpu: '8', memory: '32Gi', pods: '110' }, taints: [] });
    };
    const { scene, plan } = await withLoad([[0], [1]], SPEC, spare);

    expect(plan?.nodes).toMatchObject([{ moves: [{ pod: 'default/p0-0', to: 'cpu' }] }]);
    await scene.stop();
  });

  it('leaves a group at its least size', async () => {
    const { scene, freed, kept } = await withLoad([[4], [1], [1]], {
      instanceGroups: [{ name: 'grp', minSize: 2 }],
      minUnutilizedGPUNodes: 0,
    });

    expect(freed).toHaveLength(1);
    expect(Object.values(kept)).toContain('its group grp is at its least size');
    await scene.stop();
  });

  it('sums up what the nodes cost where all prices are known', async () => {
    const { scene, plan } = await withLoad([[4], [1], [1]], {
      instanceGroups: [{ name: 'grp', pricePerHour: 30.5 }],
      minUnutilizedGPUNodes: 0,
      defragmentation: { mode: 'act', maxNodesPerHour: 1, maxEvictionsPerHour: 1 },
    });

    expect(plan).toMatchObject({ savedPerHour: 61, evictions: 2, nodes: [{ when: 'this hour' }, { when: 'later' }] });
    await scene.stop();
  });

  it.each([
    ['a bare pod', { owned: false }, 'no controller would make it again'],
    ['a pod of a Job', { owned: 'Job' }, 'it is of a Job'],
    [
      'safe-to-evict: "false"',
      { annotations: { 'cluster-autoscaler.kubernetes.io/safe-to-evict': 'false' } },
      'safe-to-evict',
    ],
    ['do-not-disrupt', { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } }, 'do-not-disrupt'],
    ['a pod that tolerates every taint', { spec: { tolerations: [{ operator: 'Exists' }] } }, 'would come back'],
  ])('moves nothing off a node with %s', async (_, more, why) => {
    const scene = await openNodesScene();
    scene.fill(scene.cloud.addGroup('grp', 'zone-a'), 2);
    const [first = '', second = ''] = scene.nodeNames();
    await scene.addPod('stays', 1, { on: first, owned: true, ...more });
    await scene.addPod('other', 6, { on: second, owned: true });
    await scene.define('h100', SPEC);
    await scene.clock.advance(5 * SECOND_MS);
    const plan = await scene.during(scene.nodes.defragmentation('h100'));

    expect(plan?.kept).toContainEqual({ node: first, why: expect.stringContaining(why) });
    expect(plan?.nodes.map(({ name }) => name)).toEqual([second]);
    await scene.stop();
  });

  it('moves no worker of a pool while it has sessions, and moves it once it has none', async () => {
    const busy = { id: 's1', worker: 'p1-0', pool: 'p', spec: { labels: {}, files: {} } };
    const { scene, kept, freed } = await withLoad([[6], [1]], SPEC, ({ store }) =>
      store.commit([put('sessions', busy as never)]),
    );
    expect(kept[1]).toBe('default/p1-0 is not moved: it is a worker with sessions');
    expect(freed).not.toContain(1);
    await scene.store.commit([drop('sessions', 's1')]);

    const after = await scene.during(scene.nodes.defragmentation('h100'));
    expect(after?.nodes.map(({ moves }) => moves.map(({ pod }) => pod))).toEqual([['default/p1-0']]);
    await scene.stop();
  });

  it('moves pods of a Job that say that they may be', async () => {
    const annotations = { 'cluster-autoscaler.kubernetes.io/safe-to-evict': 'true' };
    const { scene, freed } = await withLoad([[6]], SPEC, async (one) => {
      one.fill([...one.cloud.groups.values()][0] as never, 1);
      await one.addPod('job', 1, { on: one.nodeNames()[1] ?? '', owned: 'Job', annotations });
    });

    expect(freed).toHaveLength(1);
    await scene.stop();
  });

  it('moves nothing whose PodDisruptionBudget lets none go', async () => {
    const { scene, kept, freed } = await withLoad([[6], [1]], SPEC, async (one) => {
      await one.kubectl('POST', '/apis/policy/v1/namespaces/default/poddisruptionbudgets', {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { name: 'all' },
        spec: { minAvailable: 2, selector: {} },
      });
      await one.clock.advance(5 * SECOND_MS);
    });

    expect(freed).toEqual([]);
    expect(kept[1]).toContain('PodDisruptionBudget all lets none go now');
    await scene.stop();
  });

  it('is none for an object that was never looked at', async () => {
    const scene = await openNodesScene();

    expect(await scene.during(scene.nodes.defragmentation('none'))).toBeUndefined();
    await scene.stop();
  });
});

// A pod that waits and that no group can serve gets room on a node whose smaller pods fit elsewhere.
import { expect, it } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { type NodesScene, openNodesScene } from '../testing/scene.ts';

const SPEC = { instanceGroups: [{ name: 'grp', maxSize: 2 }], defragmentation: { mode: 'act' } };

/** Two nodes of eight GPUs with three pods of one GPU each; the group has no third node. */
async function withSmallPods(spec: object = SPEC, podSpec: object = {}) {
  const scene = await openNodesScene();
  scene.fill(scene.cloud.addGroup('grp', 'zone-a'), 2);
  await scene.deploy('small', 6, 1, podSpec);
  await scene.clock.advance(5 * SECOND_MS);
  await scene.define('h100', spec);
  await scene.clock.advance(5 * SECOND_MS);
  const first = uidsOf(scene);
  expect(first.size).toBe(6);
  return { ...scene, moved: () => [...uidsOf(scene)].filter((uid) => !first.has(uid)).length };
}

/** Of the pods of the Deployment. */
const uidsOf = (scene: NodesScene): ReadonlySet<string> =>
  new Set(
    scene.fake
      .objects('pods')
      .filter(({ metadata }) => metadata.name.startsWith('small'))
      .map(({ metadata }) => metadata.uid ?? ''),
  );

const taints = (scene: NodesScene): unknown[] => scene.fake.objects('nodes').flatMap(({ spec }) => spec?.taints ?? []);

const waiting = (scene: NodesScene): string[] =>
  Object.entries(scene.places()).flatMap(([pod, node]) => (node === '' ? [pod] : []));

it('the fewest smaller pods move, and it runs where they were', async () => {
  const scene = await withSmallPods();
  await scene.addPod('large', 8);
  await scene.clock.advance(14 * SECOND_MS);
  expect(scene.moved()).toBe(0);

  await scene.clock.advance(MINUTE_MS);

  expect([waiting(scene), scene.moved(), taints(scene)]).toEqual([[], 3, []]);
  expect(scene.nodeNames()).toHaveLength(2);
  expect(scene.calls).toEqual([]);
  const said = (await scene.decisions('h100')).filter((text) => !text.startsWith('nothing'));
  expect(said.map((text) => text.split(/[ :]/)[0])).toEqual(['empty', 'evict', 'untaint']);
  expect(said[0]).toContain('3 pods of grp-old');
  expect(said[0]).toContain('move for default/large');
  await scene.stop();
});

it('of a node that needs two moves and one that needs three the first gives room', async () => {
  const scene = await withSmallPods();
  await scene.addPod('large', 7);

  await scene.clock.advance(2 * MINUTE_MS);

  expect([waiting(scene), scene.moved(), taints(scene)]).toEqual([[], 2, []]);
  await scene.stop();
});

it.each([
  ['the mode only plans', { ...SPEC, defragmentation: { mode: 'plan' } }, {}, 8],
  ['the hour has too few evictions left', { ...SPEC, defragmentation: { mode: 'act', maxEvictionsPerHour: 2 } }, {}, 8],
  ['they have no place elsewhere', SPEC, {}, 8, 5],
  ['they have a higher priority', SPEC, { priority: 5 }, 8],
])('nothing moves where %s', async (_, spec, podSpec, gpus, blocked = 0) => {
  const scene = await withSmallPods(spec, podSpec);
  if (blocked > 0)
    for (const [at, on] of scene.nodeNames().entries()) await scene.addPod(`block${at}`, blocked, { on, owned: true });
  await scene.addPod('large', gpus);

  await scene.clock.advance(3 * MINUTE_MS);

  expect([waiting(scene), scene.moved(), taints(scene)]).toEqual([['large'], 0, []]);
  await scene.stop();
});

it('nothing moves where a group gives a node', async () => {
  const scene = await withSmallPods({ ...SPEC, instanceGroups: [{ name: 'grp', maxSize: 3 }] });
  await scene.addPod('large', 8);

  await scene.clock.advance(3 * MINUTE_MS);

  expect([waiting(scene), scene.moved(), scene.nodeNames().length]).toEqual([[], 0, 3]);
  await scene.stop();
});

it('the node is put back where the pod goes meanwhile, and nothing moves any more', async () => {
  const scene = await withSmallPods();
  const budget = { minAvailable: 6, selector: { matchLabels: { app: 'small' } } };
  await scene.addPod('large', 8);
  while (taints(scene).length === 0) await scene.clock.advance(20);
  await scene.kubectl('POST', '/apis/policy/v1/namespaces/default/poddisruptionbudgets', {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'small' },
    spec: budget,
  });
  await scene.removePod('large');

  await scene.clock.advance(30 * SECOND_MS);

  expect([taints(scene), scene.moved(), scene.nodeNames().length]).toEqual([[], 0, 2]);
  await scene.stop();
});

// Groups that differ: a pod gets a node of a group whose nodes it may be on, and of no other.
import { describe, expect, it } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { MEMORY_TEMPLATE } from '../conformance/memory-node-cloud.ts';
import { type NodesScene, openNodesScene } from './testing/scene.ts';

const ZONE = 'topology.kubernetes.io/zone';
const SPEC = { existingInstanceGroupNames: ['a', 'b'], minUnutilizedGPUNodes: 0, scaleDownDelay: 60 };

const templateOf = (gpus: number, labels: object = {}) => ({
  ...MEMORY_TEMPLATE,
  allocatable: { ...MEMORY_TEMPLATE.allocatable, 'nvidia.com/gpu': gpus },
  labels: { ...MEMORY_TEMPLATE.labels, ...labels },
});

/** The groups `a` and `b` in a zone each. */
async function inTwoZones(spec: object = SPEC) {
  const scene = await openNodesScene();
  for (const name of ['a', 'b']) scene.cloud.addGroup(name, name, undefined, templateOf(8, { [ZONE]: name }));
  await scene.define('h100', spec);
  await scene.clock.advance(2 * SECOND_MS);
  return scene;
}

const inZone = (zone: string) => ({ spec: { nodeSelector: { [ZONE]: zone } } });

const grown = (scene: NodesScene): string[] => scene.calls.filter((call) => call.startsWith('grow'));

const unplaced = (scene: NodesScene): string[] =>
  Object.entries(scene.places()).flatMap(([pod, node]) => (node === '' ? [pod] : []));

describe('groups in two zones', () => {
  it('grow for the pods of their zone, the others come from the first one', async () => {
    const scene = await inTwoZones();
    await Promise.all([
      scene.addPod('first', 8, inZone('b')),
      scene.addPod('second', 8, inZone('b')),
      scene.addPod('any', 8),
    ]);

    await scene.clock.advance(2 * MINUTE_MS);

    expect([grown(scene).toSorted(), unplaced(scene)]).toEqual([['grow a by 1 to 1', 'grow b by 2 to 2'], []]);
    await scene.stop();
  });

  it('where the one for a pod has no capacity, no node of the other is asked for in its place', async () => {
    const scene = await inTwoZones();
    scene.mood.refuses = (call) => (call.startsWith('grow b') ? new Fault('exhausted', 'No capacity.') : undefined);
    await scene.addPod('p', 8, inZone('b'));

    await scene.clock.advance(4 * MINUTE_MS);

    expect([grown(scene), scene.nodeNames()]).toEqual([['grow b by 1 to 1'], []]);
    const [, capacity] = scene.status('h100').conditions as { reason: string }[];
    expect(capacity).toMatchObject({ reason: 'NoCapacity' });
    expect(scene.nodes.plan('h100')?.alternatives).toContainEqual(
      expect.objectContaining({ what: 'grow a', whyNot: 'the pods that wait do not fit on its nodes' }),
    );
    await scene.stop();
  });

  it('share what either may serve: what the first refuses comes from the second, and what only it may serve waits', async () => {
    const scene = await inTwoZones();
    scene.mood.refuses = (call) => (call.startsWith('grow a') ? new Fault('exhausted', 'No capacity.') : undefined);
    await Promise.all([scene.addPod('only-a', 8, inZone('a')), scene.addPod('any', 8)]);

    await scene.clock.advance(2 * MINUTE_MS);

    expect([scene.nodeNames().length, unplaced(scene)]).toEqual([1, ['only-a']]);
    await scene.stop();
  });

  it('spread pods by zone where these demand it', async () => {
    const scene = await inTwoZones();
    const spread = {
      maxSkew: 1,
      minDomains: 2,
      topologyKey: ZONE,
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: { matchLabels: { app: 'web' } },
    };
    await scene.deploy('web', 4, 8, { topologySpreadConstraints: [spread] });

    await scene.clock.advance(3 * MINUTE_MS);

    expect(unplaced(scene)).toEqual([]);
    expect([...scene.cloud.groups.values()].map(({ machines }) => machines.size)).toEqual([2, 2]);
    await scene.stop();
  });
});

describe('groups of nodes of different size', () => {
  it('each serve the pods that fit on their nodes', async () => {
    const scene = await openNodesScene();
    scene.cloud.addGroup('a', 'zone-a', undefined, templateOf(4));
    scene.cloud.addGroup('b', 'zone-a', undefined, templateOf(8));
    await scene.define('h100', SPEC);
    await Promise.all([scene.addPod('large', 8), scene.addPod('small', 4), scene.addPod('smaller', 2)]);

    await scene.clock.advance(2 * MINUTE_MS);

    expect([grown(scene).toSorted(), unplaced(scene)]).toEqual([['grow a by 2 to 2', 'grow b by 1 to 1'], []]);
    await scene.stop();
  });
});

it('a label by which the nodes of a group differ is not expected of its next node', async () => {
  const scene = await openNodesScene();
  const group = scene.cloud.addGroup('a', 'region', undefined, templateOf(8));
  scene.fill(group, 2);
  const { store } = scene.fake.world;
  for (const [at, name] of scene.nodeNames().entries()) {
    const node = store.get('/nodes', undefined, name);
    if (!node) continue;
    const labels = { ...node.metadata.labels, [ZONE]: `zone-${at}` };
    store.replace('/nodes', { ...node, metadata: { ...node.metadata, labels } });
  }
  await scene.define('h100', { existingInstanceGroupNames: ['a'] });
  for (const [at, on] of scene.nodeNames().entries()) await scene.addPod(`busy${at}`, 8, { on });
  await scene.addPod('p', 8, inZone('zone-0'));
  await scene.clock.advance(MINUTE_MS);

  expect(scene.calls).toEqual([]);
  await scene.stop();
});

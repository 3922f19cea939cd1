import { expect, it } from 'vitest';
import type { NodeGroup } from '#core/node-group.ts';
import { going } from '#core/testing/going.ts';
import { testNodeGroups } from '../../../conformance/node-groups.ts';
import type { FakeGroup } from '../fake/compute/group.ts';
import { urlOf } from '../fake/compute/instance.ts';
import { PROJECT } from '../fake/compute/seed-data.ts';
import { addNodeGroup, NODE_LAW_FAULTS, nodeLawWorld } from '../fake/compute/testing/node-laws.ts';
import { type ComputeScene, openComputeScene } from '../fake/compute/testing/scene.ts';
import gcp from '../index.ts';
import { GkeNodesConfig } from './config.ts';
import { openGkeNodes } from './groups.ts';

const CLUSTER = `projects/${PROJECT}/locations/us-central1/clusters/velda`;
const CONFIG = GkeNodesConfig.parse({
  project: PROJECT,
  location: 'us-central1',
  clusterName: 'velda',
  poolTemplates: {
    h100: {
      zone: 'us-central1-a',
      machineType: 'a3-highgpu-8g',
      acceleratorType: 'nvidia-h100-80gb',
      acceleratorCount: 8,
      taints: [{ key: 'dedicated', value: 'ml', effect: 'NoSchedule' }],
      flexStart: true,
    },
  },
});

/** A group with the node pool that it is behind. */
function addPool(scene: ComputeScene, place: string, name: string): FakeGroup {
  const { world } = scene.fake;
  const group = addNodeGroup(scene, place, name);
  const pools = world.pools.get(CLUSTER) ?? [];
  const pool = {
    ...{ name: `pool-${pools.length}`, status: 'RUNNING', autoscaling: { enabled: false }, config: {}, locations: [] },
    instanceGroupUrls: [urlOf(PROJECT, `${place}/instanceGroupManagers/${name}`)],
  };
  world.pools.set(CLUSTER, [...pools, pool]);
  return group;
}

const poolsIn = ({ fake }: ComputeScene) => fake.world.pools.get(CLUSTER) ?? [];

function open(scene: ComputeScene) {
  scene.fake.world.clusters.set(CLUSTER, { name: 'velda', location: 'us-central1' });
  return openGkeNodes(CONFIG, scene.contextFor());
}

testNodeGroups('gke', {
  kind: gcp.nodeGroups.gke,
  openWorld: nodeLawWorld({
    place: 'zones/us-central1-a',
    elsewhere: 'zones/us-central1-b',
    open,
    add: addPool,
    autoscale(scene, name) {
      for (const pool of poolsIn(scene))
        if (pool.instanceGroupUrls.some((url) => url.endsWith(`/${name}`))) pool.autoscaling = { enabled: true };
    },
    named(scene, name) {
      const urls = poolsIn(scene)
        .filter((pool) => pool.name === name)
        .flatMap((pool) => pool.instanceGroupUrls);
      return [...scene.compute.groups.values()].filter(
        (group) => group.name === name || urls.some((url) => url.endsWith(`/${group.name}`)),
      );
    },
  }),
  gpu: 'nvidia.com/gpu',
  many: 7,
  template: 'h100',
  faults: NODE_LAW_FAULTS,
});

async function found(scene: ComputeScene, name: string): Promise<NodeGroup> {
  const groups = await scene.during(open(scene));
  const all = await scene.during(groups.find({ names: [name], providerIds: [] }, going()));
  return all.get(name) as NodeGroup;
}

it('makes a pool of no nodes with the label of its provisioner, which it knows again by its own name', async () => {
  const scene = openComputeScene();
  const groups = await scene.during(open(scene));
  const wanted = { name: 'big', template: 'h100', provisioner: 'h100' };
  await scene.during(groups.create?.(wanted, going()) as Promise<NodeGroup>);
  const [call] = scene.fake.calls.filter(({ action }) => action === 'container.clusters.nodePools.create');
  const [pool] = poolsIn(scene);
  const group = await found(scene, 'big');

  expect(call?.outcome).toBe('ok');
  expect(pool).toMatchObject({
    name: 'big',
    locations: ['us-central1-a'],
    autoscaling: { enabled: false },
    config: {
      labels: { 'nodeprovisioner.compute.baseten.co/provisioner-name': 'h100' },
      taints: [{ key: 'dedicated', value: 'ml', effect: 'NO_SCHEDULE' }],
      flexStart: true,
    },
  });
  expect(group.name).toMatch(/^gke-velda-big-.*-grp$/);
  expect((await scene.during(group.describe(going()))).template.labels).toMatchObject({
    'nodeprovisioner.compute.baseten.co/provisioner-name': 'h100',
  });
});

it('says that it cannot know whether GKE sizes a pool where the right to read it is missing', async () => {
  const scene = openComputeScene();
  addPool(scene, 'zones/us-central1-a', 'grp');
  const group = await found(scene, 'grp');
  scene.fake.world.denied.add('container.clusters.get');

  expect((await scene.during(group.describe(going()))).refusal).toMatchObject({
    reason: 'GroupUnreadable',
    remedy: expect.stringContaining('roles/container.clusterViewer'),
  });
});

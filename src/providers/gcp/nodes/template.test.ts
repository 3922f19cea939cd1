import { expect, it } from 'vitest';
import { isGroupRefusal, type NodeGroup } from '#core/node-group.ts';
import { going } from '#core/testing/going.ts';
import { PROJECT } from '../fake/compute/seed-data.ts';
import type { FakeTemplate } from '../fake/compute/state.ts';
import { addNodeGroup } from '../fake/compute/testing/node-laws.ts';
import { openComputeScene } from '../fake/compute/testing/scene.ts';
import { GceNodesConfig } from './config.ts';
import { openGceNodes } from './groups.ts';
import { readKubeEnv } from './kube-env.ts';
import { allocatableOf } from './reserved.ts';

const GIB = 2 ** 30;
const MIB = 2 ** 20;

async function templateFor(template: Omit<FakeTemplate, 'id'>, place = 'zones/us-central1-a') {
  const scene = openComputeScene();
  const { compute, during } = scene;
  compute.templates.set(`${PROJECT}/t1`, { ...template, id: '1' });
  addNodeGroup(scene, place, 'grp').template = 't1';
  const groups = await during(openGceNodes(GceNodesConfig.parse({ project: PROJECT }), scene.contextFor()));
  const group = (await during(groups.find({ names: ['grp'], providerIds: [] }, going()))).get('grp') as NodeGroup;
  expect(isGroupRefusal(group)).toBe(false);
  return (await during(group.describe(going()))).template;
}

it('reserves what GKE publishes: 80 thousandths of 4 processors, 2,536 MiB of 15 GiB', () => {
  const { cpu, memory, ...others } = allocatableOf({ cpus: 4, memoryBytes: 15 * GIB, diskGib: 100, gpus: 0 });

  expect(cpu).toBe(3_920);
  // The kernel takes a 64th and 80 MiB before, and 100 MiB are left for evictions.
  expect(memory).toBe(15 * GIB - (15 * GIB) / 64 - (80 + 2_536 + 100) * MIB);
  expect(others).toEqual({ pods: 110, 'ephemeral-storage': (100 - 41 - 10) * GIB });
});

it('reserves 255 MiB of a machine that has less than a gigabyte', () => {
  expect(allocatableOf({ cpus: 1, memoryBytes: 600 * MIB, gpus: 0 }).memory).toBe(
    600 * MIB - (600 * MIB) / 64 - (16 + 255 + 100) * MIB,
  );
});

it('counts the GPUs of the machine type, and those that its template attaches in their place', async () => {
  const ofType = await templateFor({ machineType: 'a3-highgpu-8g', isSpot: false, metadata: {} });
  const attached = await templateFor({
    machineType: 'n2-standard-8',
    isSpot: false,
    metadata: {},
    properties: { guestAccelerators: [{ acceleratorType: 'nvidia-tesla-t4', acceleratorCount: 2 }] },
  });
  const none = await templateFor({ machineType: 'n2-standard-8', isSpot: false, metadata: {} });

  expect(ofType.allocatable['nvidia.com/gpu']).toBe(8);
  expect(attached.allocatable['nvidia.com/gpu']).toBe(2);
  expect(none.allocatable).not.toHaveProperty('nvidia.com/gpu');
});

it('takes labels, taints and reserved amounts from the metadata that GKE writes', async () => {
  const template = await templateFor({
    machineType: 'a3-highgpu-8g',
    isSpot: false,
    metadata: {
      'kube-env':
        "ZONE: us-central1-a\nAUTOSCALER_ENV_VARS: node_labels=team=ml,cloud.google.com/gke-nodepool=h100;node_taints='nvidia.com/gpu=present:NoSchedule,idle=:PreferNoSchedule';kube_reserved=cpu=1,memory=20Gi,ephemeral-storage=10Gi;os=linux\n",
    },
    properties: { disks: [{ boot: true, initializeParams: { diskSizeGb: '200' } }] },
  });

  expect(template.labels).toMatchObject({
    team: 'ml',
    'cloud.google.com/gke-nodepool': 'h100',
    'node.kubernetes.io/instance-type': 'a3-highgpu-8g',
    'topology.kubernetes.io/zone': 'us-central1-a',
    'topology.kubernetes.io/region': 'us-central1',
    'kubernetes.io/arch': 'amd64',
  });
  expect(template.taints).toEqual([
    { key: 'nvidia.com/gpu', value: 'present', effect: 'NoSchedule' },
    { key: 'idle', effect: 'PreferNoSchedule' },
  ]);
  expect(template.allocatable.cpu).toBe(207_000);
  expect(template.allocatable['ephemeral-storage']).toBe((200 - 10 - 20) * GIB);
});

it('says no zone of the nodes of a regional group', async () => {
  const { labels } = await templateFor(
    { machineType: 'a3-highgpu-8g', isSpot: false, metadata: {} },
    'regions/us-central1',
  );

  expect(labels).toMatchObject({ 'topology.kubernetes.io/region': 'us-central1' });
  expect(labels).not.toHaveProperty('topology.kubernetes.io/zone');
});

it('reads nothing from metadata that is not what GKE writes', () => {
  const nothing = { labels: {}, taints: [], reserved: {} };

  expect(readKubeEnv('')).toEqual(nothing);
  expect(readKubeEnv('{')).toEqual(nothing);
  expect(readKubeEnv('AUTOSCALER_ENV_VARS: 7')).toEqual(nothing);
  expect(readKubeEnv('AUTOSCALER_ENV_VARS: node_taints=a=b:Never;kube_reserved=cpu=much')).toEqual(nothing);
});

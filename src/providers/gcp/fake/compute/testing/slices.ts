// The fake Compute Engine behind a world of the slice.
import { readMarkedName } from '#core/mark-name.ts';
import type { Mark } from '#core/provider.ts';
import { noLimits } from '#fakes/limits.ts';
import type { SliceCloud, SliceCloudOptions, SliceMachine } from '#sim/slice/cloud.ts';
import type { SliceSuite } from '../../../../../conformance/slice-world.ts';
import { readLabels, readMarkText } from '../../../compute/marks.ts';
import gcp from '../../../index.ts';
import { type FakeGcp, openFakeGcp } from '../../fake-gcp.ts';
import { createManaged } from '../group.ts';
import { bootable, type FakeInstance, isLiving } from '../instance.ts';
import { makeInstance, stopInstance } from '../make.ts';
import { PROJECT, ZONE } from '../seed-data.ts';
import { type ComputeState, publishedLimits } from '../state.ts';
import { groupIn, LATER_PAGE } from './scene.ts';

function markOf({ name, labels, metadata }: FakeInstance): Mark | undefined {
  const text = metadata.muster_mark;
  const ofGroup = text === undefined ? readMarkedName(name) : readMarkText(name, text);
  return ofGroup?.mark ?? readLabels(labels);
}

function machineOf(instance: FakeInstance, compute: ComputeState): SliceMachine {
  return {
    ...bootable(instance, () => stopInstance(compute, instance)),
    name: instance.name,
    mark: markOf(instance),
    exists: (nowMs) => isLiving(instance, nowMs),
  };
}

function openFake({ clock, isLimited, pageSize, lagMs, bootMs }: SliceCloudOptions): FakeGcp {
  const fake = openFakeGcp(clock);
  const { compute } = fake.world;
  Object.assign(compute.behaviour, { pageSize: Math.min(pageSize, 500), lagMs, bootMs });
  compute.limits = isLimited ? publishedLimits : noLimits;
  fake.world.machineAccount = `muster@${PROJECT}.iam.gserviceaccount.com`;
  return fake;
}

/** Instances that others make in the group, some with a part of our mark. */
function addToGroup({ world }: FakeGcp, cluster: string): string[] {
  const metadata = ['', `${cluster}/worker/p`, 'cluster9/worker/p/s/1', `/worker/p/s/1`];
  const names = [
    'velda-workers-x7k2',
    'm-gpu-pool-p1234567-0123456789',
    'm-a-p1234567-0123456789-cluster9-0123456789ab',
  ];
  const wanted = [
    ...names.map((name) => ({ name })),
    ...metadata.map((muster_mark, at) => ({ name: `theirs-${at}`, preservedState: { metadata: { muster_mark } } })),
  ];
  const before = world.compute.instances.length;
  createManaged(world.compute, groupIn(world.compute), wanted);
  return world.compute.instances.slice(before).map(({ id }) => id);
}

/** The fake behind a world of the slice. */
export const fakesOf = new WeakMap<object, FakeGcp>();

function cloudOf(fake: FakeGcp, addForeign: (cluster: string) => string[]): SliceCloud {
  const { compute } = fake.world;
  const cloud: SliceCloud = {
    fake,
    machines: () => compute.instances.map((instance) => machineOf(instance, compute)),
    watch: (changed) => void compute.watch((instance) => changed(machineOf(instance, compute))),
    addForeign: async (cluster) => addForeign(cluster),
    refuseLate(count) {
      compute.late = count;
    },
  };
  fakesOf.set(cloud, fake);
  return cloud;
}

const SHARED = {
  provider: gcp,
  laterPage: LATER_PAGE,
  denied: { kind: 'error', code: 'forbidden', message: 'Required permission is missing', status: 403 },
  named: /google|gcp:my-project/,
} as const;

export const GROUP_SLICE: SliceSuite = {
  ...SHARED,
  backend: {
    kind: 'gce_instance_group',
    config: { project: PROJECT, zone: ZONE, instance_group: 'velda-workers' },
  },
  openCloud(options) {
    const fake = openFake(options);
    return cloudOf(fake, (cluster) => addToGroup(fake, cluster));
  },
  creation: 'compute.instanceGroupManagers.createInstances',
  removals: ['compute.instanceGroupManagers.deleteInstances'],
  mostCalls: { creation: 10, removal: 20 },
  mostDocuments: 1_000,
  forbidden: [['an address of its own', { endpoint: 'https://evil.example' }, 'endpoint']],
};

/** Instances that others make in the project, some with a part of our mark. */
function addInstances({ world }: FakeGcp, cluster: string): string[] {
  const most = { 'muster-pool': 'p', 'muster-shape': 's' };
  const labels = [{}, { team: 'ml' }, most, { ...most, 'muster-cluster': 'cluster9' }, { 'muster-cluster': cluster }];
  const shared = { project: PROJECT, zone: ZONE, machineType: 'e2-small', metadata: {}, isSpot: false };
  return labels.map((each, at) => makeInstance(world.compute, { ...shared, name: `theirs-${at}`, labels: each }).id);
}

export const INSTANCE_SLICE: SliceSuite = {
  ...SHARED,
  backend: {
    kind: 'gce_instance',
    config: { project: PROJECT, zone: ZONE, machine_type: 'e2-standard-4' },
  },
  openCloud(options) {
    const fake = openFake(options);
    return cloudOf(fake, (cluster) => addInstances(fake, cluster));
  },
  creation: 'compute.instances.bulkInsert',
  removals: ['compute.instances.delete'],
  // Compute Engine deletes instances one by one.
  mostCalls: { creation: 10, removal: 1_000 },
  mostDocuments: 1_000,
  forbidden: [
    ['an address of its own', { endpoint: 'https://evil.example' }, 'endpoint'],
    ['a variable', { image: `\${GOOGLE_APPLICATION_CREDENTIALS}` }, 'image'],
  ],
};

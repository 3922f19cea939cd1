import type { SliceCloud } from '#sim/slice/cloud.ts';
import { testComputers } from '../../../conformance/computers.ts';
import type { ComputerSuite } from '../../../conformance/computers-world.ts';
import { isGone } from '../fake/compute/instance.ts';
import { endInstance, stopInstance } from '../fake/compute/make.ts';
import { PROJECT, ZONE } from '../fake/compute/seed-data.ts';
import { fakesOf, INSTANCE_SLICE } from '../fake/compute/testing/slices.ts';
import type { FakeGcp } from '../fake/fake-gcp.ts';

const fakeOf = (cloud: SliceCloud): FakeGcp => fakesOf.get(cloud) as FakeGcp;
const instanceOf = (cloud: SliceCloud, id: string) => {
  const found = fakeOf(cloud).world.compute.instances.find((one) => one.id === id);
  if (!found) throw new Error(`There is no instance ${id}.`);
  return found;
};
const error = (code: string, status: number) => ({ kind: 'error', code, message: code, status }) as const;

const GCP_COMPUTERS: ComputerSuite = {
  ...INSTANCE_SLICE,
  request: () => ({ platform: 'gcp', options: { project: PROJECT, zone: ZONE, source_image: 'standard' } }),
  held(cloud) {
    const { instances, groups, templates, clock } = fakeOf(cloud).world.compute;
    const living = instances.filter((one) => !isGone(one, clock.now()));
    return [
      ...living.map(({ name }) => `instance ${name}`),
      ...Array.from(groups.keys(), (name) => `group ${name}`),
      ...Array.from(templates.keys(), (name) => `template ${name}`),
    ];
  },
  shown: (cloud) => [JSON.stringify(fakeOf(cloud).world.compute.instances), JSON.stringify(cloud.fake.calls)],
  refusals: [
    ['exhausted', error('ZONE_RESOURCE_POOL_EXHAUSTED', 503)],
    ['quota', error('quotaExceeded', 403)],
    ['denied', error('forbidden', 403)],
  ],
  vanish: (cloud, { id }) => endInstance(fakeOf(cloud).world.compute, instanceOf(cloud, id)),
  stop: (cloud, { id }) => stopInstance(fakeOf(cloud).world.compute, instanceOf(cloud, id)),
  endsItself: true,
  shortStride: 9,
};

testComputers('a computer on Compute Engine', GCP_COMPUTERS);

import type { SliceCloud } from '#sim/slice/cloud.ts';
import { testComputers } from '../../../../../conformance/computers.ts';
import type { ComputerSuite } from '../../../../../conformance/computers-world.ts';
import { objectsOf } from '../../../deployments/testing.ts';
import type { FakeKubernetes } from '../../fake-kubernetes.ts';
import { othersIn } from '../others.ts';
import { DEPLOYMENT_SLICE, fakesOf } from './testing.ts';

const fakeOf = (cloud: SliceCloud): FakeKubernetes => fakesOf.get(cloud) as FakeKubernetes;
const deployment = (name: string) => ({ resource: 'deployments.apps', namespace: 'default', name });
const forbidden = (message: string) => ({ kind: 'error', code: 'Forbidden', message, status: 403 }) as const;

const COMPUTERS: ComputerSuite = {
  ...DEPLOYMENT_SLICE,
  request: () => ({ platform: 'kubernetes', options: {} }),
  held: (cloud) => objectsOf(fakeOf(cloud)),
  // Of Secrets their names alone: whoever may read what they hold may act as the agents.
  shown(cloud) {
    const fake = fakeOf(cloud);
    const whole = ['deployments.apps', 'pods', 'services', 'events'].flatMap((resource) => fake.objects(resource));
    const named = fake.objects('secrets').map(({ metadata }) => metadata);
    return [JSON.stringify(whole), JSON.stringify(named)];
  },
  isSealed: true,
  refusals: [
    ['quota', forbidden('deployments.apps "c-1" is forbidden: exceeded quota: few, requested: 1')],
    ['denied', forbidden('User "muster" cannot create resource "deployments" in API group "apps"')],
  ],
  vanish: (cloud, { name }) => othersIn(fakeOf(cloud)).remove(deployment(name)),
  stop: (cloud, { name }) => othersIn(fakeOf(cloud)).patch(deployment(name), { spec: { replicas: 0 } }),
  // Its container waits between its starts, and keeps the room that it has asked for.
  endsItself: false,
  shortStride: 5,
};

testComputers('a computer as a Deployment', COMPUTERS);

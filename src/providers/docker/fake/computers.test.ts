import type { SliceCloud } from '#sim/slice/cloud.ts';
import { testComputers } from '../../../conformance/computers.ts';
import type { ComputerSuite } from '../../../conformance/computers-world.ts';
import { detailsOf, stateAt, summaryOf } from './container.ts';
import type { FakeEngine } from './engine.ts';
import { DOCKER_SLICE, fakesOf } from './testing.ts';

const fakeOf = (cloud: SliceCloud): FakeEngine => fakesOf.get(cloud) as FakeEngine;
const error = (message: string, status: number) => ({ kind: 'error', code: message, message, status }) as const;
const FIRST_PORT = 8_000;

const DOCKER_COMPUTERS: ComputerSuite = {
  ...DOCKER_SLICE,
  request: (at) => ({
    platform: 'local',
    options: { containerName: `commandlab-daemon-${at}`, port: FIRST_PORT + at },
  }),
  held(cloud) {
    const { containers } = fakeOf(cloud);
    const left = containers.filter((one) => stateAt(one, Number.MAX_SAFE_INTEGER) !== 'gone');
    return left.map(({ name }) => `container ${name}`);
  },
  // All but what was put into them as files.
  shown: (cloud) =>
    fakeOf(cloud).containers.map((one) => JSON.stringify([detailsOf(one, 0), summaryOf(one, 0), one.log])),
  isSealed: true,
  refusals: [
    ['exhausted', error('mkdir /var/lib/docker/overlay2/1: no space left on device', 500)],
    ['denied', error('authorization denied by plugin opa: not you', 403)],
  ],
  vanish: async ({ fake }, { id }) =>
    void (await fake.fetch(`http://docker/containers/${id}?force=1`, { method: 'DELETE' })),
  makesAnew: true,
  endsItself: true,
};

testComputers('a computer in a container', DOCKER_COMPUTERS);

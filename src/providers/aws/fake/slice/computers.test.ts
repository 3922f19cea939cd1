import { EC2Client, StopInstancesCommand, TerminateInstancesCommand } from '@aws-sdk/client-ec2';
import type { SliceCloud } from '#sim/slice/cloud.ts';
import { testComputers } from '../../../../conformance/computers.ts';
import type { ComputerSuite } from '../../../../conformance/computers-world.ts';
import { requestHandler } from '../../http.ts';
import { stateAt } from '../ec2/instance.ts';
import type { FakeAws } from '../fake-aws.ts';
import { AWS_SLICE, fakesOf, REGION } from './testing.ts';

const fakeOf = (cloud: SliceCloud): FakeAws => fakesOf.get(cloud) as FakeAws;
const clientOf = ({ fake }: SliceCloud): EC2Client =>
  new EC2Client({ region: REGION, requestHandler: requestHandler(fake.fetch) });
const error = (code: string, status: number) => ({ kind: 'error', code, status }) as const;

const AWS_COMPUTERS: ComputerSuite = {
  ...AWS_SLICE,
  openCloud(options) {
    const cloud = AWS_SLICE.openCloud(options);
    const refuseLate = (count: number): void => void fakeOf(cloud).region(REGION).stock.late.set('t2.micro', count);
    return Object.assign(cloud, { refuseLate });
  },
  request: () => ({ platform: 'aws', options: { region: REGION, image_id: 'standard' } }),
  held(cloud) {
    const fake = fakeOf(cloud);
    const nowMs = fake.world.clock.now();
    const { templates, groups, subnets, keyPairs, images } = fake.region(REGION);
    const instances = fake.machines().filter((one) => stateAt(one, nowMs) !== 'terminated');
    const furniture = { templates, groups, subnets, keyPairs, images };
    return [
      ...instances.map(({ id }) => `instance ${id}`),
      ...Object.entries(furniture).flatMap(([what, all]) => Array.from(all.keys(), (id) => `${what} ${id}`)),
    ];
  },
  shown: (cloud) => [
    ...cloud.machines().flatMap((one) => one.scripts()),
    JSON.stringify(
      fakeOf(cloud)
        .machines()
        .map(({ tags }) => [...tags]),
    ),
    JSON.stringify(cloud.fake.calls),
  ],
  refusals: [
    ['exhausted', error('InsufficientInstanceCapacity', 500)],
    ['quota', error('VcpuLimitExceeded', 400)],
    ['denied', error('UnauthorizedOperation', 403)],
  ],
  vanish: async (cloud, { id }) =>
    void (await clientOf(cloud).send(new TerminateInstancesCommand({ InstanceIds: [id] }))),
  stop: async (cloud, { id }) => void (await clientOf(cloud).send(new StopInstancesCommand({ InstanceIds: [id] }))),
  endsItself: true,
  shortStride: 15,
};

testComputers('a computer on EC2', AWS_COMPUTERS);

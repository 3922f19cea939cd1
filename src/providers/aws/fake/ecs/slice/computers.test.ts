import { ECSClient, StopTaskCommand } from '@aws-sdk/client-ecs';
import type { SliceCloud } from '#sim/slice/cloud.ts';
import { testComputers } from '../../../../../conformance/computers.ts';
import type { ComputerSuite } from '../../../../../conformance/computers-world.ts';
import { requestHandler } from '../../../http.ts';
import type { FakeAws } from '../../fake-aws.ts';
import { SEED_DATA } from '../../seed-data.ts';
import { isActive } from '../task.ts';
import { definitionsIn, ECS_SLICE, fakesOf, IMAGE, REGION } from './testing.ts';

const fakeOf = (cloud: SliceCloud): FakeAws => fakesOf.get(cloud) as FakeAws;
const error = (code: string, message?: string) => ({ kind: 'error', code, ...(message && { message }) }) as const;

const ECS_COMPUTERS: ComputerSuite = {
  ...ECS_SLICE,
  request: () => ({
    platform: 'aws_ecs',
    options: { region: REGION, image: IMAGE, subnets: SEED_DATA.subnets[0] },
  }),
  held(cloud) {
    const { world, region } = fakeOf(cloud);
    const nowMs = world.clock.now();
    const { tasks, ecsClusters, subnets, groups } = region(REGION);
    const active = [...tasks.values()].filter((task) => isActive(task, nowMs));
    const furniture = { ecsClusters, subnets, groups };
    return [
      ...active.map(({ arn }) => `task ${arn}`),
      ...definitionsIn(cloud),
      ...Object.entries(furniture).flatMap(([what, all]) => Array.from(all.keys(), (id) => `${what} ${id}`)),
    ];
  },
  // The environment of a task, its tags, and its definition.
  shown: (cloud) => {
    const { taskDefinitions } = fakeOf(cloud).region(REGION);
    return [
      ...fakeOf(cloud)
        .tasks()
        .map((task) => JSON.stringify([...task.environment, task.tags])),
      JSON.stringify([...taskDefinitions.values()]),
      JSON.stringify(cloud.fake.calls),
    ];
  },
  refusals: [
    ['exhausted', error('ClientException', 'Capacity is unavailable at this time. Please try again later.')],
    ['quota', error('LimitExceededException')],
    ['denied', error('AccessDeniedException')],
  ],
  vanish: async (cloud, { id }) => {
    const ecs = new ECSClient({ region: REGION, requestHandler: requestHandler(fakeOf(cloud).fetch) });
    await ecs.send(new StopTaskCommand({ task: id }));
  },
  endsItself: true,
  shortStride: 15,
};

testComputers('a computer on ECS', ECS_COMPUTERS);

import {
  CreateTagsCommand,
  DescribeTagsCommand,
  RunInstancesCommand,
  type RunInstancesCommandInput,
  StartInstancesCommand,
  StopInstancesCommand,
  TerminateInstancesCommand,
} from '@aws-sdk/client-ec2';
import { expect, test } from 'vitest';
import { LAUNCH, openScene } from '../testing.ts';
import { endedAtMs, stateAt } from './instance.ts';

type Scene = ReturnType<typeof openScene>;

async function launch({ ec2, clock }: Scene, input: Partial<RunInstancesCommandInput> = {}): Promise<string[]> {
  const reply = await ec2.send(new RunInstancesCommand({ ...LAUNCH, ...input }));
  await clock.advance(10_000);
  return reply.Instances?.map(({ InstanceId }) => InstanceId as string) ?? [];
}

const states = ({ fake, clock }: Scene): string[] => fake.machines().map((one) => stateAt(one, clock.now()));

test('one id that is not there refuses all', async () => {
  const scene = openScene();
  const [id = ''] = await launch(scene);
  const InstanceIds = [id, 'i-0123456789abcdef0'];

  const missing = { name: 'InvalidInstanceID.NotFound' };
  await expect(scene.ec2.send(new TerminateInstancesCommand({ InstanceIds }))).rejects.toMatchObject(missing);
  await expect(scene.ec2.send(new StopInstancesCommand({ InstanceIds }))).rejects.toMatchObject(missing);
  await expect(scene.ec2.send(new StartInstancesCommand({ InstanceIds }))).rejects.toMatchObject(missing);

  expect(states(scene)).toEqual(['running']);
});

test('terminating goes by shutting-down, and again is no fault', async () => {
  const scene = openScene();
  const InstanceIds = await launch(scene, { MaxCount: 2 });

  const { TerminatingInstances } = await scene.ec2.send(new TerminateInstancesCommand({ InstanceIds }));

  expect(TerminatingInstances?.[0]).toMatchObject({
    PreviousState: { Name: 'running' },
    CurrentState: { Name: 'shutting-down' },
  });
  await scene.clock.advance(20_000);
  expect(states(scene)).toEqual(['terminated', 'terminated']);
  const before = scene.fake.machines().map(endedAtMs);
  await scene.ec2.send(new TerminateInstancesCommand({ InstanceIds }));
  expect(scene.fake.machines().map(endedAtMs)).toEqual(before);
});

test('a stopped instance can be started, frees its capacity, and keeps its name', async () => {
  const scene = openScene();
  scene.fake.region('us-west-2').stock.machines.set('c5.large', 1);
  const InstanceIds = await launch(scene);

  await scene.ec2.send(new StopInstancesCommand({ InstanceIds }));
  expect(states(scene)).toEqual(['stopping']);
  await expect(scene.ec2.send(new StartInstancesCommand({ InstanceIds }))).rejects.toMatchObject({
    name: 'IncorrectInstanceState',
  });
  await scene.clock.advance(10_000);
  expect(states(scene)).toEqual(['stopped']);
  await launch(scene);
  expect(states(scene)).toEqual(['stopped', 'running']);
  await expect(scene.ec2.send(new StartInstancesCommand({ InstanceIds }))).rejects.toMatchObject({
    name: 'InsufficientInstanceCapacity',
  });
  scene.fake.region('us-west-2').stock.machines.set('c5.large', 2);
  await scene.ec2.send(new StartInstancesCommand({ InstanceIds }));
  expect(states(scene)).toEqual(['pending', 'running']);
  await scene.clock.advance(10_000);

  expect(states(scene)).toEqual(['running', 'running']);
});

test('a spot instance cannot be stopped, and is taken back two minutes after the notice', async () => {
  const scene = openScene();
  const [id = ''] = await launch(scene, { InstanceMarketOptions: { MarketType: 'spot' } });

  await expect(scene.ec2.send(new StopInstancesCommand({ InstanceIds: [id] }))).rejects.toMatchObject({
    name: 'UnsupportedOperation',
  });
  scene.fake.interrupt(id);
  await scene.clock.advance(119_000);
  expect(states(scene)).toEqual(['running']);
  await scene.clock.advance(20_000);

  expect(scene.fake.machines()[0]?.timeline.at(-1)).toMatchObject({
    state: 'terminated',
    reason: { code: 'Server.SpotInstanceTermination' },
  });
  expect(states(scene)).toEqual(['terminated']);
});

test('a spot instance that is interrupted while it starts still runs until it is taken', async () => {
  const scene = openScene();
  const launched = launch(scene, { InstanceMarketOptions: { MarketType: 'spot' } });
  await scene.clock.advance(1_000);
  scene.fake.interrupt(scene.fake.machines()[0]?.id ?? '');
  await launched;

  await scene.clock.advance(60_000);

  expect(states(scene)).toEqual(['running']);
});

test('tags can be added later', async () => {
  const scene = openScene();
  const Resources = await launch(scene);

  await scene.ec2.send(new CreateTagsCommand({ Resources, Tags: [{ Key: 'colour', Value: 'red' }] }));
  const { Tags } = await scene.ec2.send(
    new DescribeTagsCommand({ Filters: [{ Name: 'resource-id', Values: Resources }] }),
  );

  expect(Tags).toEqual([{ ResourceId: Resources[0], ResourceType: 'instance', Key: 'colour', Value: 'red' }]);
});

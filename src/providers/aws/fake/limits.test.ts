import { DescribeInstancesCommand, RunInstancesCommand } from '@aws-sdk/client-ec2';
import { GetParameterCommand, GetParametersByPathCommand } from '@aws-sdk/client-ssm';
import { expect, test } from 'vitest';
import { publishedLimits } from './limits.ts';
import { LAUNCH, openClients, openScene } from './testing.ts';

const scene = () => openScene({ limits: publishedLimits });

async function sentUntilRefused(send: () => Promise<unknown>): Promise<{ count: number; name: string }> {
  for (let count = 0; ; count += 1) {
    try {
      await send();
    } catch (thrown) {
      return { count, name: (thrown as Error).name };
    }
  }
}

test('launches have a bucket of five calls, which refills at two a second', async () => {
  const { ec2, clock, fake } = scene();
  const launch = () => ec2.send(new RunInstancesCommand(LAUNCH));

  expect(await sentUntilRefused(launch)).toEqual({ count: 5, name: 'RequestLimitExceeded' });
  await clock.advance(1_000);
  expect(await sentUntilRefused(launch)).toEqual({ count: 2, name: 'RequestLimitExceeded' });

  expect(fake.machines()).toHaveLength(7);
});

test('machines have a bucket of a thousand, which refills at two a second', async () => {
  const { ec2, clock } = scene();
  const launch = (MaxCount: number) => ec2.send(new RunInstancesCommand({ ...LAUNCH, MaxCount }));

  await launch(999);
  await clock.advance(500);

  await expect(launch(3)).rejects.toMatchObject({ name: 'RequestLimitExceeded' });
  await launch(2);
});

test('reading has its own bucket, and each region its own', async () => {
  const { ec2, fake } = scene();
  const list = () => ec2.send(new DescribeInstancesCommand({}));

  expect(await sentUntilRefused(list)).toEqual({ count: 100, name: 'RequestLimitExceeded' });
  await ec2.send(new RunInstancesCommand(LAUNCH));
  await openClients(fake, 'eu-west-1').ec2.send(new DescribeInstancesCommand({}));
});

test('the ways of reading parameters share forty a second', async () => {
  const { ssm, clock } = scene();
  const read = () => ssm.send(new GetParametersByPathCommand({ Path: '/velda' }));

  expect(await sentUntilRefused(read)).toEqual({ count: 40, name: 'ThrottlingException' });
  await expect(ssm.send(new GetParameterCommand({ Name: '/a' }))).rejects.toMatchObject({
    name: 'ThrottlingException',
  });
  await clock.advance(100);
  expect(await sentUntilRefused(read)).toEqual({ count: 4, name: 'ThrottlingException' });
});

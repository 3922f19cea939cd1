import { DescribeInstancesCommand, RunInstancesCommand } from '@aws-sdk/client-ec2';
import { GetParametersByPathCommand } from '@aws-sdk/client-ssm';
import { expect, test } from 'vitest';
import { LAUNCH, openScene } from './testing.ts';

const run = () => new RunInstancesCommand({ ...LAUNCH, ClientToken: 'launch-1' });

test('a lost reply leaves the machine made and the caller with a broken connection', async () => {
  const { fake, ec2 } = openScene();
  fake.failureRules.add({ action: 'RunInstances', what: { kind: 'lost reply' } });

  await expect(ec2.send(run())).rejects.toMatchObject({ name: 'TypeError', cause: { code: 'ECONNRESET' } });

  expect(fake.machines()).toHaveLength(1);
  await ec2.send(run());
  expect(fake.machines()).toHaveLength(1);
  expect(fake.calls.map(({ action, outcome }) => [action, outcome])).toEqual([
    ['RunInstances', 'lost reply'],
    ['RunInstances', 'ok'],
  ]);
});

test('a lost request leaves nothing made', async () => {
  const { fake, ec2 } = openScene();
  fake.failureRules.add({ what: { kind: 'lost request' } });

  await expect(ec2.send(run())).rejects.toMatchObject({ cause: { code: 'ECONNRESET' } });

  expect(fake.machines()).toEqual([]);
});

test('a call that hangs ends when its caller gives up, carried out or not', async () => {
  const { fake, ec2, clock } = openScene();
  fake.failureRules.add({ action: 'RunInstances', what: { kind: 'hang', done: true } });
  const giveUp = new AbortController();
  let isOver = false;

  const ended = ec2.send(run(), { abortSignal: giveUp.signal }).finally(() => {
    isOver = true;
  });
  ended.catch(() => {});
  await clock.advance(600_000);
  expect(isOver).toBe(false);
  giveUp.abort();

  await expect(ended).rejects.toMatchObject({ name: 'AbortError' });
  expect(fake.machines()).toHaveLength(1);
});

test('a slow call is carried out when its time has come', async () => {
  const { fake, ec2, clock } = openScene();
  fake.failureRules.add({ what: { kind: 'slow', ms: 5_000 } });

  const answered = ec2.send(run());
  await clock.advance(4_000);
  expect(fake.machines()).toEqual([]);
  await clock.advance(1_000);

  await answered;
  expect(fake.machines()).toHaveLength(1);
});

test('a failureRule can wait for the second page, and strike as often as was said', async () => {
  const { fake, ec2 } = openScene();
  const list = () => ec2.send(new DescribeInstancesCommand({}));
  fake.failureRules.add({ action: 'DescribeInstances', after: 1, times: 2, what: { kind: 'throttle' } });

  await list();
  await expect(list()).rejects.toMatchObject({ name: 'RequestLimitExceeded', $metadata: { httpStatusCode: 503 } });
  await expect(list()).rejects.toMatchObject({ name: 'RequestLimitExceeded' });
  await list();

  expect(fake.countOf('DescribeInstances')).toBe(4);
  const outcomes = fake.calls.map(({ outcome }) => outcome);
  expect(outcomes).toEqual(['ok', 'RequestLimitExceeded', 'RequestLimitExceeded', 'ok']);
});

test('any error of AWS can be made, and a reply that is none of AWS', async () => {
  const { fake, ec2, ssm } = openScene();
  fake.failureRules.add({ service: 'ec2', what: { kind: 'error', code: 'InternalError', status: 500 } });
  fake.failureRules.add({ service: 'ssm', what: { kind: 'garbage' } });

  await expect(ec2.send(run())).rejects.toMatchObject({ name: 'InternalError' });
  await expect(ssm.send(new GetParametersByPathCommand({ Path: '/' }))).rejects.toMatchObject({
    $metadata: { httpStatusCode: 502 },
  });
});

test('calls are written down with what was asked and when', async () => {
  const { fake, ec2, ssm, clock } = openScene();
  await clock.advance(1_000);

  await ec2.send(run());
  await ssm.send(new GetParametersByPathCommand({ Path: '/velda', Recursive: true }));

  expect(fake.calls).toMatchObject([
    {
      service: 'ec2',
      action: 'RunInstances',
      region: 'us-west-2',
      parameters: { ClientToken: 'launch-1', MaxCount: '1' },
    },
    {
      service: 'ssm',
      action: 'GetParametersByPath',
      parameters: { Path: '/velda', Recursive: true },
      atMs: clock.now(),
    },
  ]);
});

import { DescribeInstancesCommand, RunInstancesCommand } from '@aws-sdk/client-ec2';
import { GetParametersByPathCommand } from '@aws-sdk/client-ssm';
import { expect, test } from 'vitest';
import { LAUNCH, openClients, openScene } from './testing.ts';

const form = (action: string, headers: Record<string, string> = {}, more = '') =>
  new Request('https://sts.us-west-2.amazonaws.com/', {
    method: 'POST',
    body: `Action=${action}&Version=2011-06-15${more}`,
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
  });

const signedBy = (key: string) => ({
  authorization: `AWS4-HMAC-SHA256 Credential=${key}/20260101/us-west-2/sts/aws4_request, SignedHeaders=host, Signature=0`,
});

test('an unsigned request is refused by every service', async () => {
  const { fake } = openScene();
  const target = { 'x-amz-target': 'AmazonSSM.GetParametersByPath' };

  const ec2 = await fake.fetch('https://ec2.us-west-2.amazonaws.com/', {
    method: 'POST',
    body: 'Action=DescribeInstances',
  });
  const sts = await fake.handle(form('GetCallerIdentity'));
  const ssm = await fake.fetch('https://ssm.us-west-2.amazonaws.com/', { method: 'POST', body: '{}', headers: target });

  expect(await ec2.text()).toContain('<Code>MissingAuthenticationToken</Code>');
  expect(await sts.text()).toContain('<Code>MissingAuthenticationToken</Code>');
  expect(await ssm.json()).toMatchObject({ __type: 'MissingAuthenticationTokenException' });
  expect([ec2.status, sts.status, ssm.status]).toEqual([403, 403, 400]);
});

test('a right can be denied to one caller, in the words of AWS', async () => {
  const { fake, ec2 } = openScene();
  const other = openClients(fake, 'us-west-2', 'AKIAOTHER');
  fake.principals.name('AKIAOTHER', 'arn:aws:iam::123456789012:user/other');
  fake.principals.deny('ec2:RunInstances', 'AKIAOTHER');
  fake.principals.deny('ssm:*', 'AKIAOTHER');

  await expect(other.ec2.send(new RunInstancesCommand(LAUNCH))).rejects.toMatchObject({
    name: 'UnauthorizedOperation',
    message: expect.stringContaining(
      'User: arn:aws:iam::123456789012:user/other is not authorized to perform: ec2:RunInstances',
    ),
    $metadata: { httpStatusCode: 403 },
  });
  await expect(other.ssm.send(new GetParametersByPathCommand({ Path: '/velda/pools' }))).rejects.toMatchObject({
    name: 'AccessDeniedException',
    message: expect.stringContaining(
      'ssm:GetParametersByPath on resource: arn:aws:ssm:us-west-2:123456789012:parameter/velda/pools',
    ),
  });
  await other.ec2.send(new DescribeInstancesCommand({}));
  await ec2.send(new RunInstancesCommand(LAUNCH));
  fake.principals.allow('ec2:RunInstances', 'AKIAOTHER');
  await other.ec2.send(new RunInstancesCommand(LAUNCH));

  expect(fake.machines()).toHaveLength(2);
});

test('a key that is not known any more is refused', async () => {
  const { fake, ec2, ssm } = openScene();
  fake.principals.revoke('AKIATEST');

  await expect(ec2.send(new DescribeInstancesCommand({}))).rejects.toMatchObject({ name: 'AuthFailure' });
  await expect(ssm.send(new GetParametersByPathCommand({ Path: '/' }))).rejects.toMatchObject({
    name: 'UnrecognizedClientException',
  });
});

test('everybody learns who he is, and may become a role', async () => {
  const { fake } = openScene();

  const before = await (await fake.handle(form('GetCallerIdentity', signedBy('AKIATEST')))).text();
  const role = '&RoleArn=arn:aws:iam::123456789012:role/reader&RoleSessionName=me';
  const assumed = await (await fake.handle(form('AssumeRole', signedBy('AKIATEST'), role))).text();
  const key = /<AccessKeyId>(\w+)</.exec(assumed)?.[1] ?? '';
  const after = await (await fake.handle(form('GetCallerIdentity', signedBy(key)))).text();

  expect(before).toContain('<Arn>arn:aws:iam::123456789012:root</Arn>');
  expect(before).toContain('<Account>123456789012</Account>');
  expect(after).toContain('<Arn>arn:aws:sts::123456789012:assumed-role/reader/me</Arn>');
});

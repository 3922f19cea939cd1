import { expect, test } from 'vitest';
import { openScene } from '../testing.ts';

const signed = (service: string) => ({
  authorization: `AWS4-HMAC-SHA256 Credential=AKIATEST/20260101/us-west-2/${service}/aws4_request, SignedHeaders=host, Signature=0`,
});

const post = (service: string, body: string, headers: Record<string, string> = {}) =>
  new Request('http://127.0.0.1:4566/', { method: 'POST', body, headers: { ...signed(service), ...headers } });

test('an action that is not known is refused in the protocol of its service', async () => {
  const { fake } = openScene();

  const ec2 = await fake.handle(post('ec2', 'Action=MakeCoffee'));
  const sts = await fake.handle(post('sts', 'Action=MakeCoffee'));
  const ssm = await fake.handle(post('ssm', '{}', { 'x-amz-target': 'AmazonSSM.MakeCoffee' }));

  expect(await ec2.text()).toMatch(/<Response><Errors><Error><Code>InvalidAction</);
  expect(await sts.text()).toMatch(/<ErrorResponse .*<Code>InvalidAction</);
  expect(await ssm.json()).toMatchObject({ __type: 'UnknownOperationException' });
});

test('names that every object has are no actions', async () => {
  const { fake } = openScene();

  const response = await fake.handle(post('ec2', 'Action=constructor'));

  expect(response.status).toBe(400);
});

test('a body that is no JSON is refused', async () => {
  const { fake } = openScene();

  const response = await fake.handle(post('ssm', '{', { 'x-amz-target': 'AmazonSSM.GetParameter' }));

  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ __type: 'SerializationException' });
});

test('on one address, services and regions are distinguished by what was signed', async () => {
  const { fake } = openScene();

  await fake.handle(post('ec2', 'Action=DescribeInstances'));
  await fake.handle(post('sts', 'Action=GetCallerIdentity'));
  await fake.handle(new Request('https://ec2.eu-west-1.amazonaws.com/?Action=DescribeInstances'));

  expect(fake.calls.map(({ service, region, outcome }) => [service, region, outcome])).toEqual([
    ['ec2', 'us-west-2', 'ok'],
    ['sts', 'us-west-2', 'ok'],
    ['ec2', 'eu-west-1', 'MissingAuthenticationToken'],
  ]);
});

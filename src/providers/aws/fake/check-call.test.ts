import { RunInstancesCommand, type RunInstancesCommandInput } from '@aws-sdk/client-ec2';
import { describe, expect, it } from 'vitest';
import { definition } from './definition.gen.ts';
import { EC2_ACTIONS } from './ec2/actions.ts';
import { EKS_ACTIONS } from './eks/actions.ts';
import { SEED_DATA } from './seed-data.ts';
import { SSM_ACTIONS } from './ssm/actions.ts';
import { STS_ACTIONS } from './sts/actions.ts';
import { LAUNCH, openClients, openScene } from './testing.ts';

const signed = (service: string, region = 'us-west-2', key = 'AKIATEST') => ({
  authorization: `AWS4-HMAC-SHA256 Credential=${key}/20260101/${region}/${service}/aws4_request, SignedHeaders=host, Signature=0`,
});

const LAUNCH_FORM = {
  Action: 'RunInstances',
  ImageId: SEED_DATA.image,
  InstanceType: 'c5.large',
  MinCount: '1',
  MaxCount: '1',
};

/** The answer of EC2 to a form as it travels. */
async function ec2(form: Readonly<Record<string, string>>, headers = signed('ec2')): Promise<string> {
  const { fake } = openScene();
  const body = new URLSearchParams({ Version: '2016-11-15', ...form }).toString();
  const address = 'https://ec2.us-west-2.amazonaws.com/';
  const type = { 'content-type': 'application/x-www-form-urlencoded' };
  return (await fake.fetch(address, { method: 'POST', body, headers: { ...type, ...headers } })).text();
}

async function ssm(action: string, body: object): Promise<Readonly<Record<string, unknown>>> {
  const { fake } = openScene();
  const headers = { 'x-amz-target': `AmazonSSM.${action}`, ...signed('ssm') };
  const init = { method: 'POST', body: JSON.stringify(body), headers };
  return (await fake.fetch('https://ssm.us-west-2.amazonaws.com/', init)).json() as Promise<Record<string, unknown>>;
}

describe('the fake AWS', () => {
  it.each([
    ['an unknown parameter', { SubnetID: 'x' }, 'UnknownParameter', 'The parameter SubnetID is not recognized'],
    [
      'one deep inside',
      { 'TagSpecification.1.ResourceType': 'instance', 'TagSpecification.1.Tags.1.Key': 'a' },
      'UnknownParameter',
      'The parameter TagSpecification.1.Tags is not recognized',
    ],
    [
      'an enumeration that AWS does not have',
      { 'TagSpecification.1.ResourceType': 'machine' },
      'InvalidParameterValue',
      'Value (machine) for parameter TagSpecification.1.ResourceType is invalid.',
    ],
    ['a text for a number', { MaxCount: 'two' }, 'InvalidParameterValue', 'Value (two) for parameter MaxCount'],
    [
      'a text for a boolean',
      { EbsOptimized: 'yes' },
      'InvalidParameterValue',
      'Value (yes) for parameter EbsOptimized',
    ],
  ])('refuses a launch with %s', async (_what, more, code, message) => {
    const answer = await ec2({ ...LAUNCH_FORM, ...more });

    expect(answer).toContain(`<Code>${code}</Code>`);
    expect(answer).toContain(message);
  });

  it('refuses a listing of instances by a parameter of another action', async () => {
    expect(await ec2({ Action: 'DescribeInstances', 'Owner.1': 'self' })).toContain('<Code>UnknownParameter</Code>');
  });

  it.each([
    ['without a path', 'GetParametersByPath', {}, 'ValidationException', "Value null at 'path'"],
    ['with an unknown field', 'GetParametersByPath', { Path: '/', Recursiv: true }, 'ValidationException', 'recursiv'],
    ['with a text for a boolean', 'GetParametersByPath', { Path: '/', Recursive: 'yes' }, 'SerializationException', ''],
    [
      'of an unknown tier',
      'PutParameter',
      { Name: '/a', Value: 'b', Type: 'String', Tier: 'Cheap' },
      'ValidationException',
      'Member must satisfy enum value set: [Standard, Advanced, Intelligent-Tiering]',
    ],
  ])('refuses a call of Parameter Store %s', async (_what, action, body, type, message) => {
    expect(await ssm(action, body)).toEqual({
      __type: type,
      message: expect.stringContaining(message),
    });
  });

  it.each([
    ['key pair', { KeyName: 'none' }, 'InvalidKeyPair.NotFound', "The key pair 'none' does not exist"],
    [
      'instance profile',
      { IamInstanceProfile: { Name: 'none' } },
      'InvalidParameterValue',
      'Value (none) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name',
    ],
    ['image', { ImageId: 'ami-00000000000000000' }, 'InvalidAMIID.NotFound', 'does not exist'],
    ['subnet', { SubnetId: 'subnet-none' }, 'InvalidSubnetID.NotFound', 'does not exist'],
    ['security group', { SecurityGroupIds: ['sg-none'] }, 'InvalidGroup.NotFound', 'does not exist'],
    ['instance type', { InstanceType: 'c5.huge' as never }, 'InvalidParameterValue', "Invalid value 'c5.huge'"],
    [
      'snapshot',
      { BlockDeviceMappings: [{ DeviceName: '/dev/sdf', Ebs: { SnapshotId: 'snap-none' } }] },
      'InvalidSnapshot.NotFound',
      "The snapshot 'snap-none' does not exist.",
    ],
  ] satisfies [string, Partial<RunInstancesCommandInput>, string, string][])(
    'knows no such %s',
    async (_what, more, name, message) => {
      await expect(openScene().ec2.send(new RunInstancesCommand({ ...LAUNCH, ...more }))).rejects.toMatchObject({
        name,
        message: expect.stringContaining(message),
      });
    },
  );

  it('takes a key pair and an instance profile that exist', async () => {
    const { ec2: client, fake } = openScene();
    const IamInstanceProfile = { Arn: `arn:aws:iam::123456789012:instance-profile/${SEED_DATA.profile}` };
    await client.send(new RunInstancesCommand({ ...LAUNCH, KeyName: SEED_DATA.keyPair, IamInstanceProfile }));

    expect(fake.machines()).toMatchObject([{ keyName: SEED_DATA.keyPair, profile: IamInstanceProfile.Arn }]);
  });

  it('refuses an access key that it does not know', async () => {
    const { fake } = openScene();
    const { ec2: client } = openClients(fake, 'us-west-2', 'AKIANOBODY');

    await expect(client.send(new RunInstancesCommand(LAUNCH))).rejects.toMatchObject({
      name: 'AuthFailure',
      $metadata: { httpStatusCode: 401 },
    });
  });

  it('refuses a region that AWS does not have', async () => {
    expect(await ec2({ Action: 'DescribeInstances' }, signed('ec2', 'us-west-9'))).toContain(
      'Credential should be scoped to a valid region',
    );
  });

  it('has a definition of every action', () => {
    const services = { ec2: EC2_ACTIONS, ssm: SSM_ACTIONS, sts: STS_ACTIONS, eks: EKS_ACTIONS };
    const actions = Object.entries(services).flatMap(([service, known]) =>
      Object.keys(known).map((action) => `${service}.${action}`),
    );

    expect(actions.filter((action) => !(action in definition.methods))).toEqual([]);
  });
});
